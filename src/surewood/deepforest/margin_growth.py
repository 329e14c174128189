"""Growing a margin forest: theory.md §4.5, layer by layer.

:class:`MarginGrowth` runs the algorithm: block, margins, step, weights, stop rule. It can start from a first
layer that several settings share, which is why a whole grid of targets costs little more than one.

:class:`LayerTask` trains the forests of one layer, all at once or by and by. A tree depends on its number,
its forest's place in the block, the fold and the seed. So a forest of ten trees to which thirty are added is
the forest of forty, and a layer can begin with few trees.

**What the first few trees tell**: how good a block will be, and how many trees it needs. Blocks and layers
are compared by held-out Brier loss after calibration with one exponent (:func:`calibrated`): forests differ
in how far their vectors are from 0 and 1, which the calibration of the finished model removes. Unlike the
log-loss it is finite where ten trees agree on a wrong class. The class vector of a block is a mean over
trees. Two halves of the trees differ only because each is finite, so their difference measures the variance
of the mean, row by row and without bias; this variance is exactly what more trees can take off the Brier loss
(:class:`FewTrees`).

**The first layer** depends on forests and depths only, and the forests of a block do not know of each other.
So settings that differ in their blocks take their forests out of one pool, and :func:`choose_first_layer`
gives the setting whose first layer has the best held-out score. With a pilot the first few trees of every
forest decide (:func:`race`, by successive halving): ten trees per forest are enough to tell blocks apart that
differ; those that do not get more.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from surewood._arrays import Codes, Floats
from surewood.deepforest.blocks import Block, BlockFit, BlockSetting, FoldClassifier, train_block
from surewood.deepforest.data import LayerInput, TrainingSet, layer_seed, learn_vector_bins, widen
from surewood.deepforest.forests import at_most
from surewood.deepforest.margins import (
    AdditiveScore,
    first_step,
    layer_weights,
    next_step,
)
from surewood.deepforest.model import MarginLayer, MarginLayers
from surewood.deepforest.plan import LEAST_BATCHES, TOLERANCE, MarginSetting, RunOptions
from surewood.deepforest.stopping import Growth, held_out_score, mean_and_error
from surewood.trees.binning import BinMapper
from surewood.trees.flat_tree import FlatForest, ForestJoiner

_LEAST_STEP = 1e-3  # theory.md [D-30]
_LEAST_PROBABILITY = 1e-6
_LEAST_EXPONENT, _MOST_EXPONENT = 0.25, 8.0
_EXPONENT_STEPS = 12  # of a golden-section search: the logarithm of the exponent to 0.01
_GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0


def brier_loss(vectors: Floats, y: Codes) -> Floats:
    """Squared distance of each row's class vector from its label's unit vector.

    Examples
    --------
    >>> brier_loss(np.array([[1.0, 0.0], [0.5, 0.5]]), np.array([0, 1])).tolist()
    [0.0, 0.5]
    """
    true = vectors[np.arange(len(y)), y]
    return np.asarray((vectors**2).sum(axis=1) - 2.0 * true + 1.0)


def calibrated(vectors: Floats, y: Codes, weight: Floats | None = None) -> Floats:
    """The vectors to the power with the least mean Brier loss, rows summing to 1.

    Examples
    --------
    >>> vectors = np.array([[0.6, 0.4], [0.6, 0.4], [0.6, 0.4], [0.6, 0.4]])
    >>> calibrated(vectors, np.array([0, 0, 0, 1])).round(2)[0].tolist()
    [0.75, 0.25]
    """
    logarithms = np.log(np.maximum(vectors, _LEAST_PROBABILITY))
    logarithms -= logarithms.max(axis=1, keepdims=True)

    def raised(exponent: float) -> Floats:
        powers = np.exp(exponent * logarithms)
        return np.asarray(powers / powers.sum(axis=1, keepdims=True))

    def loss(place: float) -> float:
        return mean_and_error(brier_loss(raised(math.exp(place)), y), weight)[0]

    low, high = math.log(_LEAST_EXPONENT), math.log(_MOST_EXPONENT)
    left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    at_left, at_right = loss(left), loss(right)
    for _ in range(_EXPONENT_STEPS):
        if at_left <= at_right:
            high, right, at_right = right, left, at_left
            left = high - _GOLDEN * (high - low)
            at_left = loss(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + _GOLDEN * (high - low)
            at_right = loss(right)
    return raised(math.exp(left if at_left <= at_right else right))


def mixing_gain(before: Floats, added: Floats, y: Codes, weight: Floats | None = None) -> tuple[float, float]:
    """By how much the best mixture with `added` lowers the mean Brier loss of `before`, and the loss's error.

    Both are calibrated first, so that a mixture gains by what it knows, not by being bolder. The second
    number is the standard error of the mean loss of `before`.

    Examples
    --------
    >>> y = np.array([0, 1, 0, 1])
    >>> gain, error = mixing_gain(np.full((4, 2), 0.5), np.eye(2)[y], y)
    >>> round(gain, 3), round(error, 3)
    (0.5, 0.0)
    """
    first, second = calibrated(before, y, weight), calibrated(added, y, weight)
    direction, residual = second - first, first.copy()
    residual[np.arange(len(y)), y] -= 1.0
    slope, _ = mean_and_error((residual * direction).sum(axis=1), weight)
    bend, _ = mean_and_error((direction**2).sum(axis=1), weight)
    _, error = mean_and_error((residual**2).sum(axis=1), weight)
    if slope >= 0.0:
        return 0.0, error
    mixed = min(1.0, -slope / bend)
    return -2.0 * mixed * slope - mixed**2 * bend, error


@dataclass(frozen=True)
class FewTrees:
    """Held-out vectors of a block with few trees."""

    #: Means over all trees so far. Shape (n_rows, n_classes).
    vectors: Floats
    #: Estimated variance of each of them that is due to the number of trees. Shape (n_rows,).
    variance: Floats
    #: Trees per forest and fold.
    n_trees: int

    @classmethod
    def of_halves(cls, first: Floats, second: Floats, n_first: int, n_second: int) -> FewTrees:
        """From the mean vectors of the first trees and of those after them.

        Examples
        --------
        >>> few = FewTrees.of_halves(np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]]), 5, 5)
        >>> few.vectors.tolist(), few.variance.tolist()
        ([[0.5, 0.5]], [0.5])
        """
        total = n_first + n_second
        vectors = (n_first * first + n_second * second) / total
        variance = ((first - second) ** 2).sum(axis=1) * (n_first * n_second / total**2)
        return cls(vectors, variance, total)

    def losses(self, y: Codes, weight: Floats | None) -> Floats:
        """Brier loss of every row after calibration."""
        return brier_loss(calibrated(self.vectors, y, weight), y)

    def trees_needed(self, y: Codes, weight: Floats | None, tolerance: float, n_folds: int) -> int:
        """Trees per forest that bring the loss of new rows within `tolerance` standard errors of its limit.

        New rows get the mean over the trees of all folds.
        """
        _, error = mean_and_error(brier_loss(self.vectors, y) - self.variance, weight)
        excess, _ = mean_and_error(self.variance, weight)
        if excess <= 0.0 or error <= 0.0:
            return self.n_trees
        return math.ceil(self.n_trees * excess / (n_folds * tolerance * error))


def few_trees(halves: Floats, fit: BlockFit, n_first: int, n_trees: int) -> FewTrees:
    """What the first `n_first` trees, with member vectors `halves`, tell about all `n_trees` of `fit`."""
    first, both = halves.mean(axis=0), fit.vectors.mean(axis=0)
    second = (n_trees * both - n_first * first) / (n_trees - n_first)
    return FewTrees.of_halves(first, second, n_first, n_trees - n_first)


@dataclass(frozen=True)
class LayerTask:
    """One layer of a margin forest.

    `places` are the positions of the setting's members in the block they were taken out of (None: 0, 1, ...).
    """

    training: TrainingSet
    inputs: LayerInput
    weight: Floats | None
    setting: MarginSetting
    layer: int
    run: RunOptions
    places: Sequence[int] | None = None

    def train(self) -> BlockFit:
        """Every member with all its trees."""
        return self._train(range(len(self.setting.members)), 0, None)

    def begin(self, n_trees: int) -> tuple[BlockFit, Floats]:
        """The first trees of every forest, and classifiers; with the vectors of half of these trees."""
        half = n_trees // 2
        first = self._train(range(len(self.setting.members)), 0, half)
        halves = first.vectors.copy()
        return self.extend(first, half, n_trees), halves

    def with_trees_needed(self, few: FewTrees) -> LayerTask:
        """The same with no more trees per forest than its first ones show to be worth growing."""
        setting, training = self.setting, self.training
        needed = few.trees_needed(training.y, training.weight, TOLERANCE, setting.n_folds)
        least = LEAST_BATCHES * (setting.pilot_trees or few.n_trees)
        return replace(self, setting=with_at_most(setting, max(least, needed)))

    def grow(self, fit: BlockFit, n_trees: int) -> tuple[BlockFit, int]:
        """All remaining trees, in batches that double (a time limit is noticed), and how many there are."""
        most = max((member.n_trees for member in self.setting.members if member.is_forest), default=0)
        while n_trees < most and not self.run.time_limit.is_over:
            stop = min(2 * n_trees, most)
            fit, n_trees = self.extend(fit, n_trees, stop), stop
        return fit, n_trees

    def extend(self, fit: BlockFit, start: int, stop: int) -> BlockFit:
        """`fit` with the trees `start` to `stop` added to the forests that have as many."""
        members = self.setting.members
        numbers = [k for k, member in enumerate(members) if member.is_forest and member.n_trees > start]
        if not numbers:
            return fit
        more = self._train(numbers, start, stop)
        added = [min(members[k].n_trees, stop) - start for k in numbers]
        return _joined(fit, more, numbers, start, added)

    def _train(self, numbers: Sequence[int], start: int, stop: int | None) -> BlockFit:
        """The trees `start` to `stop` (None: all) of some members."""
        setting, training = self.setting, self.training
        seed, depths = layer_seed(setting.seed, self.layer), setting.depths(self.layer)
        members = [setting.members[k] for k in numbers]
        if stop is not None:
            members = [
                replace(m, n_trees=min(m.n_trees, stop) - start) if m.is_forest else m for m in members
            ]
        block_setting = BlockSetting(
            members,
            [depths[k] for k in numbers],
            setting.trees,
            len(training.classes),
            setting.cross_fit,
            first_tree=start,
            places=[k if self.places is None else self.places[k] for k in numbers],
        )
        return train_block(
            self.inputs,
            training.y,
            training.deal(setting.n_folds, seed),
            block_setting,
            seed=seed,
            weight=training.weight if self.weight is None else self.weight,
            n_jobs=self.run.n_jobs,
            verbose=self.run.verbose,
            name=f"layer {self.layer}",
        )


def with_at_most(setting: MarginSetting, n_trees: int) -> MarginSetting:
    """The setting with at most this many trees per forest."""
    return replace(setting, members=at_most(setting.members, n_trees))


def first_layer_task(training: TrainingSet, setting: MarginSetting, run: RunOptions) -> LayerTask:
    """The first layer, which does not depend on the target, the loss or the weights."""
    return LayerTask(training, training.inputs, None, setting, 1, run)


def _joined(
    fit: BlockFit, more: BlockFit, numbers: Sequence[int], n_before: int, n_added: Sequence[int]
) -> BlockFit:
    """The block of all trees: member j of `more` has `n_added[j]` further trees of member ``numbers[j]``.

    The vectors of `fit` are overwritten.
    """
    models: list[FlatForest | list[FoldClassifier]] = list(fit.block.models)
    vectors, importances = fit.vectors, fit.member_importances.copy()
    for j, k in enumerate(numbers):
        before, after = models[k], more.block.models[j]
        assert isinstance(before, FlatForest)
        assert isinstance(after, FlatForest)
        joiner = ForestJoiner(before.n_trees + after.n_trees, before.n_classes, before.n_features)
        joiner.add(before)
        joiner.add(after)
        models[k] = joiner.forest()
        part = n_added[j] / (n_before + n_added[j])
        importances[k] += part * (more.member_importances[j] - importances[k])
        vectors[k] += part * (more.vectors[j] - vectors[k])
    block = Block(models, fit.block.n_classes)
    return BlockFit(block, vectors, importances, fit.seconds + more.seconds)


class MarginGrowth(Growth[MarginSetting]):
    """A margin forest while it is grown."""

    def __init__(self, training: TrainingSet, setting: MarginSetting, run: RunOptions) -> None:
        super().__init__(training, setting, run)
        self.added: list[MarginLayer] = []
        self.score: AdditiveScore | None = None

    def grown(self, first: BlockFit | None = None) -> MarginGrowth:
        """Layers until the stop rule says so, of which the best are kept (theory.md §4.5, [D-30]).

        `first` is the first layer, where several settings share it.
        """
        self.add_first(
            first_layer_task(self.training, self.setting, self.run).train() if first is None else first
        )
        while not self.finished:
            self.add_next()
        self.finish()
        return self

    @property
    def layers(self) -> MarginLayers:
        """The kept layers."""
        return MarginLayers(
            tuple(self.added[: self.n_kept]), self.setting.step.mode, self.setting.layer_inputs
        )

    def add_first(self, fit: BlockFit) -> None:
        """Take in the first layer."""
        training, vectors = self.training, fit.vectors.mean(axis=0)
        score = first_step(vectors, training.y, self.setting.step, training.weight)
        self._add(fit, vectors, score, training.weight, None)

    def add_next(self) -> None:
        """Train one more layer and take it in; only its first trees where these gain no more than noise."""
        setting, training, n_pilot, before = self.setting, self.training, self.setting.pilot_trees, self.score
        assert before is not None
        bins, inputs = None, training.inputs
        if setting.layer_inputs != "features":
            bins = learn_vector_bins(before.scores, training.weight)
            inputs = widen(training.inputs, before.scores, bins, setting.layer_inputs)
        step, promises = setting.step, True
        weight = layer_weights(
            before.z, setting.reweighting, theta=step.theta, mu_loss=step.mu_loss, weight=training.weight
        )
        task = LayerTask(training, inputs, weight, setting, self.next_layer, self.run)
        if n_pilot is None:
            fit = task.train()
        else:
            fit, halves = task.begin(n_pilot)
            few = few_trees(halves, fit, n_pilot // 2, n_pilot)
            scores = before.scores / sum(before.alphas)
            gain, noise = mixing_gain(scores, few.vectors, training.y, training.weight)
            promises = gain > TOLERANCE * noise
            if promises:
                fit, _ = task.with_trees_needed(few).grow(fit, n_pilot)
        vectors = fit.vectors.mean(axis=0)
        score = next_step(before, vectors, training.y, step, training.weight)
        self._add(fit, vectors, score, weight, bins, promises)

    def _add(
        self,
        fit: BlockFit,
        vectors: Floats,
        score: AdditiveScore,
        weight: Floats | None,
        bins: BinMapper | None,
        promises: bool = True,
    ) -> None:
        """Take in a layer that was trained with `weight`; `score` is the sum with it.

        Where it `promises` nothing it is recorded and given up.
        """
        number, block = self.next_layer, self.kept(fit.block) if promises else fit.block
        record = self.record_of(
            score.scores,
            vectors,
            block,
            step=score.step,
            weight=weight,
            n_points=self.training.n_rows,
            seconds=fit.seconds,
        )
        held_out = score.scores / sum(score.alphas)
        if not promises:
            self.abandon(record, held_out)
            return
        is_last = number > 1 and score.step < _LEAST_STEP
        self.take_in(record, score.scores, held_out, is_last=is_last)
        self.added.append(MarginLayer(block, bins, score.step, fit.importances))
        self.score = score

    def drop_trees(self) -> None:
        """Forget the trees of all layers, where only scores matter."""
        self.added = [replace(layer, block=Block([], layer.block.n_classes)) for layer in self.added]


# --- the first layer -------------------------------------------------------------------------------------


def choose_first_layer(
    training: TrainingSet, settings: Sequence[MarginSetting], run: RunOptions
) -> tuple[MarginSetting, BlockFit]:
    """The setting whose first layer has the best held-out score, the first of equal ones, and that layer."""
    if settings[0].pilot_trees is not None:
        return race(training, settings, run, settings[0].pilot_trees)
    best: tuple[float, MarginSetting, BlockFit] | None = None
    for setting, fit in first_layers(training, settings, run):
        if len(settings) == 1:
            return setting, fit
        vectors = fit.vectors.mean(axis=0)
        score = held_out_score(setting.monitor, vectors, training.y, training.classes, training.weight)
        if best is None or score > best[0]:
            best = (score, setting, fit)
    assert best is not None
    return best[1], best[2]


def first_layers(
    training: TrainingSet, settings: Sequence[MarginSetting], run: RunOptions
) -> Iterator[tuple[MarginSetting, BlockFit]]:
    """Every setting with its first layer, in the order of the depths and then of the settings.

    Plans may differ in their blocks and depths, not in anything else that a first layer depends on. One pool
    of forests is in memory at a time.
    """
    for sharing in _by_depths(settings):
        pool, places = _pooled(sharing)
        fit = first_layer_task(training, pool, run).train()
        for setting, members in zip(sharing, places):
            yield setting, fit.take(members)


def _by_depths(settings: Sequence[MarginSetting]) -> list[list[MarginSetting]]:
    """The settings that can share a pool."""
    groups: dict[Any, list[MarginSetting]] = {}
    for setting in settings:
        groups.setdefault(frozenset(setting.schedule), []).append(setting)
    return list(groups.values())


def _pooled(settings: Sequence[MarginSetting]) -> tuple[MarginSetting, list[list[int]]]:
    """One setting whose block has the forests of all, and the places of each setting's forests in it."""
    # Member and growth rate are all that a forest of the first layer depends on.
    blocks = [list(zip(setting.members, setting.schedule)) for setting in settings]
    pool = pool_of(blocks)
    members, schedule = tuple(member for member, _ in pool), tuple(rate for _, rate in pool)
    places = [places_of(block, pool) for block in blocks]
    return replace(settings[0], members=members, schedule=schedule), places


def pool_of(blocks: Sequence[list[Any]]) -> list[Any]:
    """The smallest list that has every block's forests.

    Examples
    --------
    >>> pool_of([["r", "r", "c"], ["e", "e", "c"]])
    ['r', 'r', 'c', 'e', 'e']
    """
    pool: list[Any] = []
    for block in blocks:
        lacking = Counter(block) - Counter(pool)
        pool += list(lacking.elements())
    return pool


def places_of(block: Sequence[Any], pool: Sequence[Any]) -> list[int]:
    """Where the pool has a block's forests, each place used once.

    Examples
    --------
    >>> places_of(["e", "e", "c"], ["r", "r", "c", "e", "e"])
    [3, 4, 2]
    """
    free = {forest: [k for k, other in enumerate(pool) if other == forest] for forest in pool}
    return [free[forest].pop(0) for forest in block]


def race(
    training: TrainingSet, settings: Sequence[MarginSetting], run: RunOptions, n_pilot: int
) -> tuple[MarginSetting, BlockFit]:
    """The setting whose first few trees have the least held-out loss, and its first layer.

    All blocks start with few trees at the first of the depths; the better half of them also try the others.
    Where the two best differ by no more than noise, both get as many trees again before one is chosen.
    The winner gets as many trees as these show to be worth growing; its later layers at most as many.
    """
    entrants: list[_Entrant] = []
    for sharing in _by_depths(settings):
        if entrants and run.time_limit.is_over:
            break
        if entrants:
            sharing = _still_in(sharing, settings, entrants)
        entrants += _enter(training, sharing, run, n_pilot)
    best, n_trees = _final(entrants, run, n_pilot)
    task = best.task.with_trees_needed(best.few)
    fit, n_trees = task.grow(best.fit, n_trees)
    return with_at_most(task.setting, n_trees), fit


@dataclass(frozen=True)
class _Entrant:
    """A setting in the race, with its first trees and what they tell."""

    task: LayerTask
    fit: BlockFit
    few: FewTrees
    #: Held-out loss of every row.
    losses: Floats

    @classmethod
    def of(cls, task: LayerTask, fit: BlockFit, halves: Floats, n_first: int, n_trees: int) -> _Entrant:
        """With `n_trees` trees per forest, the first `n_first` of which have the vectors `halves`."""
        few = few_trees(halves, fit, n_first, n_trees)
        return cls(task, fit, few, few.losses(task.training.y, task.training.weight))

    @property
    def loss(self) -> float:
        return mean_and_error(self.losses, self.task.training.weight)[0]


def _enter(
    training: TrainingSet, settings: Sequence[MarginSetting], run: RunOptions, n_pilot: int
) -> list[_Entrant]:
    """The first trees of settings of one depth, out of one pool."""
    if not settings:
        return []
    pool, places = _pooled(settings)
    fit, halves = first_layer_task(training, pool, run).begin(n_pilot)
    entrants = []
    for setting, members in zip(settings, places):
        task = replace(first_layer_task(training, setting, run), places=members)
        entrants.append(_Entrant.of(task, fit.take(members), halves[members], n_pilot // 2, n_pilot))
    return entrants


def _still_in(
    sharing: Sequence[MarginSetting], settings: Sequence[MarginSetting], entrants: Sequence[_Entrant]
) -> list[MarginSetting]:
    """The settings whose block has not been tried or is in the better half of those that have."""
    losses: dict[Any, float] = {}
    for entrant in entrants:
        forests = entrant.task.setting.forests
        losses[forests] = min(entrant.loss, losses.get(forests, math.inf))
    n_blocks = len({setting.forests for setting in settings})
    better = sorted(losses, key=lambda forests: losses[forests])[: max(1, n_blocks // 2)]
    return [setting for setting in sharing if setting.forests not in losses or setting.forests in better]


def _final(entrants: Sequence[_Entrant], run: RunOptions, n_trees: int) -> tuple[_Entrant, int]:
    """The best entrant and its trees per forest."""
    best, *others = sorted(entrants, key=lambda entrant: entrant.loss)
    twice = min(2 * n_trees, max(member.n_trees for member in best.task.setting.members))
    if not others or twice <= n_trees or run.time_limit.is_over:
        return best, n_trees
    gap, noise = mean_and_error(others[0].losses - best.losses, best.task.training.weight)
    if gap > noise:
        return best, n_trees
    finalists = []
    for entrant in (best, others[0]):
        halves = entrant.fit.vectors.copy()
        fit = entrant.task.extend(entrant.fit, n_trees, twice)
        finalists.append(_Entrant.of(entrant.task, fit, halves, n_trees, twice))
    return min(finalists, key=lambda entrant: entrant.loss), twice
