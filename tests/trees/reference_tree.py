"""The specification of core/forest/tree_builder: one tree, in the most obvious Python.

Nodes are nested dicts. Counts are Python integers, so nothing can overflow; random words come from the
formulas of core/common/rng.hpp. Everything is recomputed from the rows of the node, for every feature and
every cut.
"""

import math
from itertools import pairwise

import numpy as np

MASK = 2**64 - 1
GOLDEN = 0x9E3779B97F4A7C15
MISSING = 255


def mix64(z):
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def child_key(key, number):
    return mix64(mix64((key + GOLDEN) & MASK) ^ ((number * GOLDEN + 0x632BE59BD9B4E019) & MASK))


def tree_key(seed, tree):
    return child_key(mix64((seed + GOLDEN) & MASK), tree)


class Stream:
    def __init__(self, key):
        self.key, self.counter = key, 0

    def next(self):
        self.counter += 1
        return mix64((self.key + self.counter * GOLDEN) & MASK)

    def below(self, n):
        return ((self.next() >> 32) * n) >> 32

    def uniform(self):
        return (self.next() >> 11) * 2.0**-53


def class_weights(labels, weights, n_classes):
    return [sum(int(w) for label, w in zip(labels, weights) if label == c) for c in range(n_classes)]


def xlog2x(w):
    return round(w * math.log2(w) * 2**24) if w > 1 else 0


def score(criterion, left, right):
    wl, wr = sum(left), sum(right)
    if criterion == "gini":
        return float(sum(w * w for w in left)) / wl + float(sum(w * w for w in right)) / wr
    return float(sum(map(xlog2x, left)) - xlog2x(wl) + sum(map(xlog2x, right)) - xlog2x(wr))


class ReferenceTree:
    """``codes`` (n, F), ``values`` a list of representative values a column, integer ``weights`` > 0."""

    def __init__(self, codes, values, is_category, labels, weights, n_classes, params, key, row_weight=1.0):
        self.row_weight = row_weight
        self.codes, self.values, self.is_category = codes, values, is_category
        self.labels, self.weights, self.n_classes, self.p = labels, weights, n_classes, params
        self.total = int(sum(int(w) for w in weights))
        self.root = self.grow(np.arange(len(labels)), 0, child_key(key, 2))

    def counts(self, rows):
        return class_weights(self.labels[rows], self.weights[rows], self.n_classes)

    def grow(self, rows, depth, key):
        counts = self.counts(rows)
        depth_reached = self.p.max_depth is not None and depth >= self.p.max_depth
        is_small = len(rows) < self.p.min_samples_split or (
            depth >= self.p.stop_depth and len(rows) <= self.p.stop_rows
        )
        if sum(c > 0 for c in counts) < 2 or depth_reached or is_small:
            return {"counts": counts}
        best = self.search(rows, counts, Stream(key))
        if best is None or not self.worth_it(best, counts):
            return {"counts": counts}
        goes_left = self.goes_left(best, rows)
        return {
            "feature": best["feature"],
            "split": best,
            "left": self.grow(rows[goes_left], depth + 1, child_key(key, 0)),
            "right": self.grow(rows[~goes_left], depth + 1, child_key(key, 1)),
        }

    def search(self, rows, counts, stream):
        order = list(range(self.codes.shape[1]))
        best, visited, varies = None, 0, False
        quota = 1 if self.p.splitter == "completely_random" else self.p.max_features
        while visited < len(order) and (visited < quota or not varies):
            other = visited + stream.below(len(order) - visited)
            order[visited], order[other] = order[other], order[visited]
            feature = order[visited]
            visited += 1
            column = self.codes[rows, feature]
            if len(set(column.tolist())) < 2:
                continue
            varies = True
            for candidate in self.candidates(feature, column, rows, counts, stream):
                if self.allowed(candidate, rows) and (best is None or self.better(candidate, best)):
                    best = candidate
        return None if best is None else self.finish(best, rows)

    def better(self, candidate, best):
        return self.p.splitter != "completely_random" and candidate["score"] > best["score"]

    def allowed(self, candidate, rows):
        n_left = int(self.goes_left(candidate, rows).sum())
        return min(n_left, len(rows) - n_left) >= self.p.min_samples_leaf

    def worth_it(self, best, counts):
        unit = 1.0 if self.p.criterion == "gini" else 2.0**-24
        decrease = (best["score"] - score(self.p.criterion, counts, counts) / 2) * unit / self.total
        return self.p.min_impurity_decrease <= 0 or decrease + 2.0**-52 >= self.p.min_impurity_decrease

    def goes_left(self, split, rows):
        column = self.codes[rows, split["feature"]]
        if "set" in split:
            return np.isin(column, sorted(split["set"]))
        return np.where(column == MISSING, split["missing_left"], column <= split["last"])

    def candidates(self, feature, column, rows, counts, stream):
        if self.p.splitter == "best":
            found = list(self.best_candidates(feature, column, rows, counts))
        else:
            found = list(self.random_candidates(feature, column, stream))
        for split in found:
            left = self.counts(rows[self.goes_left(split, rows)])
            right = [c - w for c, w in zip(counts, left)]
            found_score = score(self.p.criterion, left, right)
            if self.p.splitter == "best" and "set" in split:  # each category beyond two may memorise a row
                own, total = score(self.p.criterion, counts, counts) / 2, sum(counts)
                pure = float(total) if self.p.criterion == "gini" else 0.0
                row = self.row_weight * ((pure - own) / total)
                found_score -= max(len(split["seen"]) - 2, 0) * row
            yield split | {"score": found_score}

    def best_candidates(self, feature, column, rows, counts):
        present = sorted(set(column.tolist()))
        if self.is_category[feature]:
            majority = counts.index(max(counts))
            prior = 10.0 * self.row_weight

            def share(code):
                of_code = self.counts(rows[column == code])
                of_prior = prior * (counts[majority] / sum(counts))
                return (of_code[majority] + of_prior) / (sum(of_code) + prior), code

            order = sorted(present, key=share)
            for k in range(1, len(order)):
                yield {"feature": feature, "set": set(order[:k]), "seen": set(present)}
            return
        for a, b in pairwise(present):
            yield {"feature": feature, "last": a, "next": b, "missing_left": False, "seen": set(present)}
        if present[-1] == MISSING:
            for a, b in pairwise(present[:-1]):
                yield {"feature": feature, "last": a, "next": b, "missing_left": True, "seen": set(present)}

    def random_candidates(self, feature, column, stream):
        present = sorted(set(column.tolist()))
        if self.is_category[feature]:
            yield {"feature": feature, "set": self.random_subset(present, stream), "seen": set(present)}
            return
        known = [code for code in present if code != MISSING]
        missing = present[-1] == MISSING
        if len(known) == 1:
            yield {"feature": feature, "last": known[0], "missing_left": False, "seen": set(present)}
            return
        low, high = self.values[feature][known[0]], self.values[feature][known[-1]]
        u = stream.uniform()
        threshold = low * (1 - u) + high * u
        last = max(
            c for c in range(known[0], known[-1]) if c == known[0] or self.values[feature][c] <= threshold
        )
        sides = [False, True] if missing else [False]
        if missing and self.p.splitter == "completely_random":
            sides = [bool(stream.next() >> 63)]
        for side in sides:
            yield {"feature": feature, "last": last, "missing_left": side, "seen": set(present)}

    def random_subset(self, present, stream):
        while True:
            subset = set()
            for word in range(4):
                codes = [c for c in present if c >> 6 == word]
                if codes:
                    bits = stream.next()
                    subset |= {c for c in codes if bits >> (c & 63) & 1}
            if subset and len(subset) < len(present):
                return subset

    def finish(self, best, rows):
        """Where unseen codes go, and the bin at the midpoint between neighbouring values."""
        goes_left = self.goes_left(best, rows)
        left, right = (sum(int(w) for w in self.weights[rows[side]]) for side in (goes_left, ~goes_left))
        best = dict(best, score=best["score"])
        if "set" in best:
            if left >= right:
                best["set"] = best["set"] | (set(range(256)) - best["seen"])
            return best
        if MISSING not in best["seen"]:
            best["missing_left"] = left >= right
        if self.p.splitter == "best" and best["next"] != MISSING:
            values = self.values[best["feature"]]
            middle = values[best["last"]] * 0.5 + values[best["next"]] * 0.5
            inside = range(best["last"] + 1, best["next"])
            best["last"] = max([best["last"], *(c for c in inside if values[c] <= middle)])
        return best


def assert_same_tree(forest, tree, reference):
    """Compare a tree of a FlatForest with a ReferenceTree, node by node."""
    table = forest.table(tree)

    def compare(node, expected):
        if "counts" in expected:
            assert table["feature"][node] == -1
            shares = np.array(expected["counts"]) / sum(expected["counts"])
            np.testing.assert_allclose(forest.class_vector(tree, node), shares, rtol=1e-6, atol=1e-7)
            return 1
        split = expected["split"]
        assert table["feature"][node] == expected["feature"]
        assert table["is_category"][node] == ("set" in split)
        if "set" in split:
            at = forest.category_start[tree] + forest.nodes[forest.node_start[tree] + node, 0]
            words = [int(w) for w in forest.category_set[at]]
            assert {c for c in range(256) if words[c >> 6] >> (c & 63) & 1} == split["set"]
        else:
            assert table["last_bin"][node] == split["last"]
            assert table["missing_left"][node] == split["missing_left"]
        return (
            1
            + compare(table["left"][node], expected["left"])
            + compare(table["right"][node], expected["right"])
        )

    assert compare(0, reference.root) == len(table["feature"])
