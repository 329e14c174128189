"""Growing a margin forest: theory.md §4.5, layer by layer, as a function of arrays.

`grow_margin_forest` runs the algorithm: block, margins, step, weights, stop rule. It can start from a first
layer that others share (`train_first_layer`), which is how a whole grid of targets costs little more than
one. :class:`MarginModel` is what remains for prediction.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from surewood._arrays import Floats
from surewood.deepforest.additive import AdditiveScore, StepRule, add_layer, first_step, next_step
from surewood.deepforest.block import Block, BlockFit, BlockPlan, LayerInput, train_block
from surewood.deepforest.folds import deal_folds, layer_seed
from surewood.deepforest.layer_input import learn_vector_bins, widen
from surewood.deepforest.members import Member, TreeSettings
from surewood.deepforest.records import LayerRecord
from surewood.deepforest.reweighting import CHOICES, WeightRule, layer_weights
from surewood.deepforest.stopping import LayerMonitor, held_out_score
from surewood.deepforest.training import RunOptions, TrainingSet, make_record
from surewood.trees import BinMapper

Schedule = tuple[int | None, ...]
_LEAST_STEP = 1e-3  # theory.md [D-30]


@dataclass(frozen=True)
class MarginPlan:
    """Everything that decides the result; `schedule` has one growth rate a member ([D-27])."""

    members: Sequence[Member]
    settings: TreeSettings
    schedule: Schedule
    step: StepRule
    weights: WeightRule
    n_folds: int
    cross_fit: str = "kfold"
    layer_inputs: str = "both"
    max_layers: int = 10
    patience: int = 3
    min_improvement: float = 1e-4
    monitor: Any = "accuracy"
    max_bins: int = 255
    seed: int = 0

    @property
    def first_key(self) -> tuple[Any, ...]:
        """What the first layer depends on among the plans of one search."""
        return tuple((member.kind, member.n_trees) for member in self.members), self.schedule

    def depths(self, layer: int) -> list[int | None]:
        """Depth limits of layer 1, 2, ...: a (t + 1) ([D-27])."""
        return [None if rate is None else rate * (layer + 1) for rate in self.schedule]


@dataclass
class MarginLayer:
    """A layer: its block, how its extra inputs are coded, its step, its importances."""

    block: Block
    vector_bins: BinMapper | None
    step: float
    importances: Floats


@dataclass
class MarginModel:
    """Layers and how their vectors add up (4.1)."""

    layers: list[MarginLayer]
    mode: str
    layer_inputs: str

    def staged_scores(self, base: LayerInput, n_jobs: int | None = 1) -> Iterator[Floats]:
        """f_1, f_2, ... of new points, rows scaled to sum to 1."""
        for _, _, scores in self.walk(base, n_jobs):
            yield scores

    def walk(self, base: LayerInput, n_jobs: int | None = 1) -> Iterator[tuple[LayerInput, Floats, Floats]]:
        """Input, vectors (n_members, n_rows, n_classes) and scores after each layer."""
        scores: Floats | None = None
        total = 0.0
        for layer in self.layers:
            inputs = base
            if scores is not None and layer.vector_bins is not None:
                inputs = widen(base, scores, layer.vector_bins, self.layer_inputs)
            members = layer.block.vectors(inputs, n_jobs)
            vectors = members.mean(axis=0)
            scores = (
                layer.step * vectors if scores is None else add_layer(scores, vectors, layer.step, self.mode)
            )
            total = layer.step if total == 0.0 else (1.0 if self.mode == "simplex" else total + layer.step)
            yield inputs, members, scores / total

    def alphas(self) -> list[float]:
        """Weight of every layer in the final score."""
        alphas: list[float] = []
        for number, layer in enumerate(self.layers):
            keep = 1.0 - layer.step if number and self.mode == "simplex" else 1.0
            alphas = [keep * alpha for alpha in alphas] + [layer.step]
        return alphas


@dataclass
class MarginFit:
    """A grown forest.

    Attributes
    ----------
    model : MarginModel
        The kept layers.
    records : list of LayerRecord
        All layers, kept or not.
    held_out : ndarray of float64, shape (m, n_classes)
        Held-out scores of the training points at the kept layer, rows summing to 1.
    staged_held_out : list of ndarray
        The same for every layer, if they were to be kept.
    plan : MarginPlan
        As grown: "chosen" weights are resolved.
    """

    model: MarginModel
    records: list[LayerRecord]
    held_out: Floats
    staged_held_out: list[Floats]
    plan: MarginPlan

    @property
    def score(self) -> float:
        """Monitored score of the kept layer."""
        return self.records[len(self.model.layers) - 1].score


def train_first_layer(training: TrainingSet, plan: MarginPlan, run: RunOptions) -> BlockFit:
    """The first layer, which does not depend on the target, the loss or the weights."""
    return _train(training, training.inputs, None, plan, 1, run)


def _train(
    training: TrainingSet,
    inputs: LayerInput,
    weight: Floats | None,
    plan: MarginPlan,
    layer: int,
    run: RunOptions,
) -> BlockFit:
    seed = layer_seed(plan.seed, layer)
    block_plan = BlockPlan(
        plan.members, plan.depths(layer), plan.settings, len(training.classes), plan.cross_fit
    )
    return train_block(
        inputs,
        training.y,
        deal_folds(training.y, plan.n_folds, seed),
        block_plan,
        seed=seed,
        weight=training.weight if weight is None else weight,
        n_jobs=run.n_jobs,
        verbose=run.verbose,
        name=f"layer {layer}",
    )


def grow_margin_forest(
    training: TrainingSet,
    plan: MarginPlan,
    run: RunOptions,
    *,
    first: BlockFit | None = None,
    validation: TrainingSet | None = None,
) -> MarginFit:
    """Grow layers until the stop rule says so and keep the best (theory.md §4.5, [D-30]).

    Parameters
    ----------
    training : TrainingSet
    plan : MarginPlan
    run : RunOptions
    first : BlockFit, optional
        The result of :func:`train_first_layer`, where several plans share it.
    validation : TrainingSet, optional
        Points whose score decides instead of the held-out scores of the training points.
    """
    growth = MarginGrowth(training, plan, run, validation)
    growth.add_first(first if first is not None else train_first_layer(training, plan, run))
    while not growth.finished:
        growth.add_next()
    return growth.result()


class MarginGrowth:
    """A forest being grown: :func:`grow_margin_forest` step by step."""

    def __init__(
        self, training: TrainingSet, plan: MarginPlan, run: RunOptions, validation: TrainingSet | None
    ) -> None:
        self.training, self.plan, self.run, self.validation = training, plan, run, validation
        self.rule = plan.weights
        self.monitor = LayerMonitor(plan.patience, plan.min_improvement)
        self.model = MarginModel([], plan.step.mode, plan.layer_inputs)
        self.records: list[LayerRecord] = []
        self.staged: list[Floats] = []
        self.finished = False
        self.validation_scores: Floats | None = None

    def add_first(self, fit: BlockFit) -> None:
        """Take the first layer in."""
        training = self.training
        vectors = fit.vectors.mean(axis=0)
        score = first_step(vectors, training.y, self.plan.step, training.weight)
        self._add(fit, vectors, score, None, training.weight)

    def add_next(self) -> None:
        """Train one more layer and take it in."""
        training, plan = self.training, self.plan
        bins, inputs = None, training.inputs
        if plan.layer_inputs != "features":
            bins = learn_vector_bins(self.score.scores, training.weight, plan.max_bins)
            inputs = widen(training.inputs, self.score.scores, bins, plan.layer_inputs)
        if self.rule.kind == "chosen":
            self.rule, fit, weight = self._choose(inputs)
        else:
            fit, weight = self._try(inputs, self.rule)
        vectors = fit.vectors.mean(axis=0)
        score = next_step(self.score, vectors, training.y, plan.step, training.weight)
        self._add(fit, vectors, score, bins, weight)

    def _try(self, inputs: LayerInput, rule: WeightRule) -> tuple[BlockFit, Floats | None]:
        step, training = self.plan.step, self.training
        weight = layer_weights(
            self.score.z, rule, theta=step.theta, mu_loss=step.mu_loss, weight=training.weight
        )
        return _train(training, inputs, weight, self.plan, len(self.records) + 1, self.run), weight

    def _choose(self, inputs: LayerInput) -> tuple[WeightRule, BlockFit, Floats | None]:
        """The exponent whose second layer gives the best held-out score; the smaller one on ties."""
        best: tuple[float, WeightRule, BlockFit, Floats | None] | None = None
        for exponent in CHOICES:
            rule = WeightRule("tempered", exponent)
            fit, weight = self._try(inputs, rule)
            trial = next_step(
                self.score, fit.vectors.mean(axis=0), self.training.y, self.plan.step, self.training.weight
            )
            value = self._held_out(trial.scores)
            if best is None or value > best[0]:
                best = (value, rule, fit, weight)
        assert best is not None
        return best[1:]

    def _held_out(self, scores: Floats) -> float:
        t = self.training
        return held_out_score(self.plan.monitor, scores, t.y, t.classes, t.weight)

    def _add(
        self,
        fit: BlockFit,
        vectors: Floats,
        score: AdditiveScore,
        bins: BinMapper | None,
        weight: Floats | None,
    ) -> None:
        """Take a trained layer in, judge it, and decide whether to go on."""
        number = len(self.records) + 1
        block = self.run.settle(fit.block, f"layer-{number}")
        self.model.layers.append(MarginLayer(block, bins, score.step, fit.importances))
        value = self._held_out(score.scores) if self.validation is None else self._validate(score.step)
        record = make_record(
            number,
            value,
            score.scores,
            vectors,
            self.training,
            step=score.step,
            weight=weight,
            n_points=self.training.n_rows,
            block=block,
            max_depth=self.plan.depths(number),
            seconds=fit.seconds,
        )
        self.records.append(record)
        self.score = score
        stop = self.monitor.add(value, record.margin_ratio)
        if self.monitor.best == number - 1 or not hasattr(self, "held_out"):
            self.held_out = score.scores / sum(score.alphas)
        if self.run.keep_held_out:
            self.staged.append(score.scores / sum(score.alphas))
        perfect = self.plan.monitor == "accuracy" and value == 1.0
        tiny = number > 1 and score.step < _LEAST_STEP
        self.finished = stop or tiny or perfect or number >= self.plan.max_layers
        if self.run.scores_only:
            self.model.layers[-1].block = Block([], block.n_classes)

    def _validate(self, step: float) -> float:
        """Score of the validation points, which take the way of new points."""
        assert self.validation is not None
        layer, points = self.model.layers[-1], self.validation
        inputs = points.inputs
        if self.validation_scores is not None and layer.vector_bins is not None:
            inputs = widen(inputs, self.validation_scores, layer.vector_bins, self.plan.layer_inputs)
        vectors = layer.block.vectors(inputs, self.run.n_jobs).mean(axis=0)
        if self.validation_scores is None:
            self.validation_scores = step * vectors
        else:
            self.validation_scores = add_layer(self.validation_scores, vectors, step, self.plan.step.mode)
        return held_out_score(
            self.plan.monitor, self.validation_scores, points.y, points.classes, points.weight
        )

    def result(self) -> MarginFit:
        """The forest up to its best layer."""
        kept = self.monitor.best + 1
        records = [replace(record, kept=record.layer <= kept) for record in self.records]
        model = MarginModel(self.model.layers[:kept], self.plan.step.mode, self.plan.layer_inputs)
        plan = replace(self.plan, weights=self.rule)
        return MarginFit(model, records, self.held_out, self.staged, plan)
