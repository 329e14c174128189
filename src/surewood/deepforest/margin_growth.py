"""Growing a margin forest: theory.md §4.5, layer by layer, as a function of arrays.

`MarginGrowth.grown` runs the algorithm: block, margins, step, weights, stop rule. It can start from a first
layer that several plans share (`train_first_layer`), which is why a whole grid of targets costs little more
than one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias

from surewood._arrays import Floats
from surewood.deepforest.additive import AdditiveScore, add_layer, first_step, next_step
from surewood.deepforest.block import Block, BlockFit
from surewood.deepforest.data import TrainingSet
from surewood.deepforest.growth_log import Grown, Growth, Judged, make_record, score_of
from surewood.deepforest.layer_input import LayerInput, learn_vector_bins, widen
from surewood.deepforest.layer_task import LayerTask
from surewood.deepforest.margin_layers import MarginLayer, MarginLayers
from surewood.deepforest.plan import MarginPlan, RunOptions
from surewood.deepforest.reweighting import CHOICES, WeightRule, layer_weights
from surewood.deepforest.tree_noise import mixing_gain
from surewood.trees import BinMapper

GrownMarginForest: TypeAlias = Grown[MarginLayers, MarginPlan]
_LEAST_STEP = 1e-3  # theory.md [D-30]


def train_first_layer(training: TrainingSet, plan: MarginPlan, run: RunOptions) -> BlockFit:
    """The first layer, which does not depend on the target, the loss or the weights."""
    return LayerTask(training, training.inputs, None, plan, 1, run).train()


@dataclass(frozen=True)
class _Trial:
    """A trained layer, the rule and weights it was trained with, and the sum with it.

    `promises` is False where its first trees show no gain: then it has no more of them.
    """

    fit: BlockFit
    rule: WeightRule
    weight: Floats | None
    vectors: Floats
    score: AdditiveScore
    promises: bool = True


class MarginGrowth(Growth[MarginPlan]):
    """A margin forest while it is grown."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.layers: list[MarginLayer] = []
        self.rule = self.plan.weights
        self.score: AdditiveScore | None = None
        self.validation_scores: Floats | None = None

    def grown(self, first: BlockFit | None = None) -> GrownMarginForest:
        """Layers until the stop rule says so, of which the best are kept (theory.md §4.5, [D-30]).

        `first` is the result of :func:`train_first_layer`, where several plans share it.
        """
        self.add_first(train_first_layer(self.training, self.plan, self.run) if first is None else first)
        while not self.log.finished:
            self.add_next()
        return self.result()

    def add_first(self, fit: BlockFit) -> None:
        """Take in the first layer."""
        training = self.training
        vectors = fit.vectors.mean(axis=0)
        score = first_step(vectors, training.y, self.plan.step, training.weight)
        self._add(_Trial(fit, self.rule, training.weight, vectors, score), None)

    def add_next(self) -> None:
        """Train one more layer and take it in."""
        assert self.score is not None
        training, plan = self.training, self.plan
        bins, inputs = None, training.inputs
        if plan.layer_inputs != "features":
            bins = learn_vector_bins(self.score.scores, training.weight, plan.max_bins)
            inputs = widen(training.inputs, self.score.scores, bins, plan.layer_inputs)
        if self.rule.kind == "chosen":
            trial = self._choose(inputs, self.score)
        else:
            trial = self._try(inputs, self.score, self.rule)
        self._add(trial, bins)

    def _try(self, inputs: LayerInput, before: AdditiveScore, rule: WeightRule) -> _Trial:
        step, training = self.plan.step, self.training
        weight = layer_weights(before.z, rule, theta=step.theta, mu_loss=step.mu_loss, weight=training.weight)
        task = LayerTask(training, inputs, weight, self.plan, self.log.next_layer, self.run)
        fit, promises = self._train(task, before)
        vectors = fit.vectors.mean(axis=0)
        score = next_step(before, vectors, training.y, step, training.weight)
        return _Trial(fit, rule, weight, vectors, score, promises)

    def _train(self, task: LayerTask, before: AdditiveScore) -> tuple[BlockFit, bool]:
        """The layer; only its first trees where these gain no more than noise."""
        pilot = self.plan.pilot
        if pilot is None:
            return task.train(), True
        fit, few = task.begin(pilot.n_trees)
        scores = before.scores / sum(before.alphas)
        gain, noise = mixing_gain(scores, few.vectors, self.training.y, self.training.weight)
        if gain <= pilot.tolerance * noise:
            return fit, False
        fit, _ = task.with_trees_needed(few, pilot).grow(fit, pilot.n_trees)
        return fit, True

    def _choose(self, inputs: LayerInput, before: AdditiveScore) -> _Trial:
        """The exponent whose second layer gives the best held-out score; the smaller one on ties."""
        best = self._try(inputs, before, WeightRule("tempered", CHOICES[0]))
        best_value = score_of(self.plan, best.score.scores, self.training)
        for exponent in CHOICES[1:]:
            trial = self._try(inputs, before, WeightRule("tempered", exponent))
            value = score_of(self.plan, trial.score.scores, self.training)
            if value > best_value:
                best, best_value = trial, value
        return best

    def _add(self, trial: _Trial, bins: BinMapper | None) -> None:
        """Take in a trained layer, judge it, and decide whether to go on."""
        number, score = self.log.next_layer, trial.score
        block = self.store(trial.fit.block, f"layer-{number}") if trial.promises else trial.fit.block
        layer = MarginLayer(block, bins, score.step, trial.fit.importances)
        points, judged = self._judge(layer, score)
        record = make_record(
            number,
            score_of(self.plan, judged, points),
            score.scores,
            trial.vectors,
            self.training,
            step=score.step,
            weight=trial.weight,
            n_points=self.training.n_rows,
            block=block,
            max_depth=self.plan.depths(number),
            seconds=trial.fit.seconds,
        )
        tiny = number > 1 and score.step < _LEAST_STEP
        held_out = score.scores / sum(score.alphas)
        if not trial.promises:
            self.log.abandon(record, held_out)
            return
        self.log.add(record, held_out, is_last=tiny, judged=Judged.of(judged, points))
        self.layers.append(layer)
        self.rule, self.score = trial.rule, score

    def _judge(self, layer: MarginLayer, score: AdditiveScore) -> tuple[TrainingSet, Floats]:
        """The points that judge, and their scores; validation points take the way of new points."""
        points = self.validation
        if points is None:
            return self.training, score.scores
        inputs, before = points.inputs, self.validation_scores
        if before is not None and layer.vector_bins is not None:
            inputs = widen(inputs, before, layer.vector_bins, self.plan.layer_inputs)
        vectors = layer.block.vectors(inputs, self.run.n_jobs).mean(axis=0)
        if before is None:
            self.validation_scores = layer.step * vectors
        else:
            self.validation_scores = add_layer(before, vectors, layer.step, self.plan.step.mode)
        return points, self.validation_scores

    def drop_trees(self) -> None:
        """Forget the trees of all layers, where only scores matter."""
        self.layers = [replace(layer, block=Block([], layer.block.n_classes)) for layer in self.layers]

    def result(self) -> GrownMarginForest:
        """The forest up to its best layer."""
        kept = tuple(self.layers[: self.log.n_kept])
        layers = MarginLayers(kept, self.plan.step.mode, self.plan.layer_inputs)
        return self.log.result(layers, replace(self.plan, weights=self.rule))
