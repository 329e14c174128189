"""mdDF as its authors' program has it (github.com/lyushenhuan/lyu2019refined; reading ``procedure=program``).

The program differs from the paper's algorithm (theory.md §4.5):

* its forests are two random forests and two of extra-trees, which try √n columns at a node;
* layer t has trees of depth at most a t, at most 100: the published 2t+2, 4t+4, ... with t counted from 0;
* later layers see the weighted sum of each forest's class vectors, not of their mean;
* a layer's weight is ½ log((1 + ḡ) / (1 - ḡ)) with the mean margin ḡ of its own class vectors;
* points are weighed by (z - θ)², beyond θ by μ (z - θ)², without the denominators of (4.3);
* all layers have the same folds, which are not stratified;
* there is no stop rule: the last of 20 layers predicts.

θ = 0.98 and μ = 0.05 are the program's constants. Its a is 4, as it is set up for adult; here it is the one
with the best held-out accuracy after the last layer. Categories are numbers. The trees are the library's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import KFold

from surewood._arrays import Codes, Floats, Ints
from surewood.bounds import margin_ratio
from surewood.deepforest.blocks import Block, BlockSetting, train_block
from surewood.deepforest.data import LayerInput, layer_seed, learn_vector_bins
from surewood.deepforest.forests import BlockMember, TreeSettings
from surewood.deepforest.margins import class_margins
from surewood.deepforest.model import side_by_side
from surewood.trees.binning import BinMapper, BinnedMatrix, as_table

FORESTS = ("random", "extra", "random", "extra")
LAYERS, FOLDS, DEEPEST = 20, 5, 100
THETA, MU = 0.98, 0.05
#: The categories of adult in the order of the data set's description, which the program's file numbers.
_ORDER = {
    "workclass": "Private, Self-emp-not-inc, Self-emp-inc, Federal-gov, Local-gov, State-gov, Without-pay, "
    "Never-worked",
    "education": "Bachelors, Some-college, 11th, HS-grad, Prof-school, Assoc-acdm, Assoc-voc, 9th, 7th-8th, "
    "12th, Masters, 1st-4th, 10th, Doctorate, 5th-6th, Preschool",
    "marital_status": "Married-civ-spouse, Divorced, Never-married, Separated, Widowed, "
    "Married-spouse-absent, Married-AF-spouse",
    "occupation": "Tech-support, Craft-repair, Other-service, Sales, Exec-managerial, Prof-specialty, "
    "Handlers-cleaners, Machine-op-inspct, Adm-clerical, Farming-fishing, Transport-moving, "
    "Priv-house-serv, Protective-serv, Armed-Forces",
    "relationship": "Wife, Own-child, Husband, Not-in-family, Other-relative, Unmarried",
    "race": "White, Asian-Pac-Islander, Amer-Indian-Eskimo, Other, Black",
    "sex": "Female, Male",
    "native_country": "United-States, Cambodia, England, Puerto-Rico, Canada, Germany, "
    "Outlying-US(Guam-USVI-etc), India, Japan, Greece, South, China, Cuba, Iran, Honduras, Philippines, "
    "Italy, Poland, Jamaica, Vietnam, Mexico, Portugal, Ireland, France, Dominican-Republic, Laos, Ecuador, "
    "Taiwan, Haiti, Columbia, Hungary, Guatemala, Nicaragua, Scotland, Thailand, Yugoslavia, El-Salvador, "
    "Trinadad&Tobago, Peru, Hong, Holand-Netherlands",
}


def category_numbers(X: pd.DataFrame) -> Floats:
    """The columns as numbers: categories 1, 2, ..., 0 where there is none.

    Examples
    --------
    >>> category_numbers(pd.DataFrame({"age": [20, 30, 40], "sex": ["Male", "Female", None]})).tolist()
    [[20.0, 2.0], [30.0, 1.0], [40.0, 0.0]]
    """
    numbers = X.copy()
    for name in X.columns.intersection(list(_ORDER)):
        numbers[name] = pd.Index(_ORDER[name].split(", ")).get_indexer(pd.Index(X[name])) + 1
    return numbers.to_numpy(np.float64)


def point_weights(z: Floats) -> Floats:
    """Weights of the next layer, mean 1.

    Examples
    --------
    >>> point_weights(np.array([-0.02, 1.98])).round(3).tolist()
    [1.905, 0.095]
    """
    loss = np.where(z <= THETA, 1.0, MU) * (z - THETA) ** 2
    return np.asarray(loss / loss.mean())


@dataclass
class ProgramForest:
    """The program's cascade; classes are codes 0, 1, ..."""

    trees: int
    a: int
    seed: int = 0
    n_jobs: int = 1
    n_layers: int = LAYERS
    layers: list[tuple[BinMapper, Block, float]] = field(default_factory=list, init=False)
    accuracies: list[float] = field(default_factory=list, init=False)
    margin_ratio: float = field(default=float("inf"), init=False)

    def fit(self, X: Floats, y: Codes | Ints) -> ProgramForest:
        """Train all layers: `accuracies` of the held-out scores after each, what one more would read."""
        n_classes, codes = int(y.max()) + 1, y.astype(np.int32)
        fold = np.empty(len(y), dtype=np.int64)
        for number, (_, held) in enumerate(KFold(FOLDS, shuffle=True, random_state=self.seed).split(X)):
            fold[held] = number
        members = [BlockMember(kind, self.trees) for kind in FORESTS]
        settings = TreeSettings("sqrt", 1, 0.0, "reweight", None)
        sums, z = np.zeros((len(FORESTS), len(y), n_classes)), np.zeros(len(y))
        inputs, weight = X, None
        for t in range(1, self.n_layers + 1):
            mapper = learn_vector_bins(inputs, None)
            depths = [min(self.a * t, DEEPEST)] * len(FORESTS)
            setting = BlockSetting(members, depths, settings, n_classes)
            seed = layer_seed(self.seed, t)
            read = _binned(inputs, mapper)
            fit = train_block(read, codes, fold, setting, seed=seed, weight=weight, n_jobs=self.n_jobs)
            gamma = class_margins(fit.vectors.mean(axis=0), codes)
            alpha = float(np.arctanh(gamma.mean()))
            self.layers.append((mapper, fit.block, alpha))
            z += alpha * gamma
            sums += alpha * fit.vectors
            weight, inputs = point_weights(z), _widened(X, sums)
            scores = sums.mean(axis=0)
            self.accuracies.append(float(np.mean(scores.argmax(axis=1) == y)))
        self.margin_ratio, self.next_inputs = margin_ratio(class_margins(scores, codes)), inputs
        return self

    def predict(self, X: Floats) -> Ints:
        """Codes of the largest scores after the last layer."""
        inputs, sums = X, np.zeros(())
        for mapper, block, alpha in self.layers:
            sums = sums + alpha * block.vectors(_binned(inputs, mapper), self.n_jobs)
            inputs = _widened(X, sums)
        return np.asarray(sums.mean(axis=0).argmax(axis=1), dtype=np.int64)

    def facts(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Metrics and chosen values, as of the other cascades."""
        metrics = {
            "layers": self.n_layers,
            "layers_grown": self.n_layers,
            "trees": self.n_layers * FOLDS * len(FORESTS) * self.trees,
            "held_out_accuracy": 100.0 * self.accuracies[-1],
            "first_layer_accuracy": 100.0 * self.accuracies[0],
            "margin_ratio": self.margin_ratio,
        }
        alphas = [round(alpha, 4) for *_, alpha in self.layers]
        return metrics, {"theta": THETA, "mu": MU, "a": self.a, "forests": list(FORESTS), "alphas": alphas}


def _binned(numbers: Floats, mapper: BinMapper) -> LayerInput:
    return LayerInput(BinnedMatrix.of(mapper.codes(as_table(numbers)), mapper), None)


def _widened(X: Floats, sums: Floats) -> Floats:
    """What the next layer sees: the table, and each forest's sum with rows summing to 1."""
    return np.hstack([X, side_by_side(sums / sums.sum(axis=2, keepdims=True))])


def growth_rate(forest: ProgramForest, rates: Sequence[int], X: Floats, y: Codes | Ints) -> int:
    """The rate a with the best held-out accuracy after the last layer."""
    held_out = [replace(forest, a=a).fit(X, y).accuracies[-1] for a in rates]
    return rates[int(np.argmax(held_out))]
