"""Boosting in plain NumPy: the specification of core/forest/boosting, equal to it bit for bit.

Integers are sums of rounded gradients; floating point appears only elementwise or in a stated order.
"""

import numpy as np

from surewood.tables.mixing import GOLDEN, mixed

MISSING = 255
MOST_DIRECTIONS = 6
COLUMNS, ROWS, ROUNDING, DIRECTIONS = range(4)
LEAF = ((1 << 22) - 1) << 10


def stream_key(seed, ids):
    with np.errstate(over="ignore"):
        key = mixed(np.uint64(seed) + GOLDEN)
        for one in ids:
            key = mixed(mixed(key + GOLDEN) ^ (np.uint64(one) * GOLDEN + np.uint64(0x632BE59BD9B4E019)))
    return key


def stream(key, count):
    with np.errstate(over="ignore"):
        return mixed(key + np.arange(1, count + 1, dtype=np.uint64) * GOLDEN)


def uniform(words):
    return (words >> np.uint64(11)).astype(np.float64) * 2.0**-53


def exponential(x):
    shifted = x * 1.4426950408889634 + 1.5 * 2.0**52
    n = shifted - 1.5 * 2.0**52
    r = (x - n * float.fromhex("0x1.62e42fee00000p-1")) - n * float.fromhex("0x1.a39ef35793c76p-33")
    p = np.full_like(x, 1 / 40320)
    for c in (1 / 5040, 1 / 720, 1 / 120, 1 / 24, 1 / 6, 0.5, 1.0, 1.0):
        p = p * r + c
    with np.errstate(over="ignore"):
        return (p.view(np.uint64) + (shifted.view(np.uint64) << np.uint64(52))).view(np.float64)


def probabilities(score):
    """Of scores (n_outputs, n_rows), as float32."""
    if len(score) == 1:
        return (1.0 / (1.0 + exponential(np.clip(-score, -600, 600)))).astype(np.float32)
    power = exponential(np.maximum(score - score.max(axis=0), -600))
    total = np.zeros(score.shape[1])
    for one in power:
        total = total + one
    return (power / total).astype(np.float32)


class Reference:
    def __init__(
        self, codes, n_bins, has_missing, columns, y, n_classes, keys, role, *, weight=None, monotone=None
    ):
        self.codes, self.n_bins, self.has_missing, self.columns = codes, n_bins, has_missing, columns
        self.y, self.keys, self.role, self.monotone = y, keys, role, monotone
        self.weight = np.ones(len(y)) if weight is None else weight
        self.n_outputs = 1 if n_classes == 2 else n_classes
        self.truth = np.stack([y == 1]) if n_classes == 2 else np.stack([y == k for k in range(n_classes)])
        self.training, self.held = np.flatnonzero(role == 1), np.flatnonzero(role == 2)
        largest = self.weight[role > 0].max()
        bits = 14
        while bits > 1 and len(self.training) >> (30 - bits):
            bits -= 1
        self.unit, self.fine = 2.0**bits / largest, 2.0**30 / largest

    def boost(self, baseline, options):
        """Trees as lists of nodes (left, column, last bin, missing left) or values of a leaf; losses."""
        self.options = options
        score = np.repeat(np.asarray(baseline)[:, None], len(self.y), axis=1)
        self.p = probabilities(score)
        trees, losses, best = [], [self.loss()], 0
        for number in range(options["n_rounds"]):
            gradient = self.rounded(number)
            bag = self.training
            if options["row_fraction"] < 1:
                drawn = uniform(mixed(self.keys[bag] ^ stream_key(options["seed"], [ROWS, number])))
                bag = bag[drawn < options["row_fraction"]]
            nodes = self.grow(self.drawn_columns(number), bag, gradient)
            leaf = self.leaves(nodes)
            self.put_values(nodes, leaf)
            for k in range(self.n_outputs):
                values = np.array([node["value"][k] if "value" in node else 0 for node in nodes], np.float32)
                score[k] += values[leaf].astype(np.float64)
            self.p = probabilities(score)
            trees.append(nodes)
            losses.append(self.loss())
            if losses[-1] < losses[best]:
                best = number + 1
            if len(self.held) and number + 1 - best >= options["patience"] + best:
                break
        return trees, losses

    def loss(self):
        if len(self.held) == 0:
            return 0.0
        rows = self.held
        p = self.p[:, rows].astype(np.float64)
        if self.n_outputs == 1:
            of_truth = np.where(self.y[rows] == 1, p[0], 1 - p[0])
            of_other = 1 - of_truth
        else:
            of_truth = p[self.y[rows], range(len(rows))]
            of_other = np.where(self.truth[:, rows], 0, p).max(axis=0)
        unit, n = self.fine / 64, len(rows)

        def total(loss):
            return np.floor(loss * self.weight[rows] * unit).astype(np.int64).sum()

        own, other = (total(-np.log(np.maximum(q, 1e-15))) for q in (of_truth, of_other))
        return (own + other / n) / (total(1.0) * (1 + 1 / n))

    def rounded(self, number):
        """Integers per row: gradients in some directions, the hessian, and 1."""
        u = uniform(mixed(self.keys ^ stream_key(self.options["seed"], [ROUNDING, number])))
        p = self.p.astype(np.float64)
        hessian = np.zeros(len(self.y))
        for one in p:
            hessian = hessian + ((1.0 if self.n_outputs == 1 else 0.5) * one) * (1.0 - one)
        residual = p - self.truth
        if self.n_outputs <= MOST_DIRECTIONS:
            gradient = residual
        else:
            words = stream(
                stream_key(self.options["seed"], [DIRECTIONS, number]), MOST_DIRECTIONS * self.n_outputs
            )
            sign = np.where(words >> np.uint64(63), 1.0, -1.0).reshape(MOST_DIRECTIONS, -1)
            gradient = np.zeros((MOST_DIRECTIONS, len(self.y)))
            for k in range(self.n_outputs):
                gradient = gradient + (sign * (1.0 / np.sqrt(6.0)))[:, k, None] * residual[k]
        parts = np.vstack([gradient, hessian]) * (self.weight * self.unit) + (u - 0.5)
        return np.vstack([np.rint(parts).astype(np.int64), np.ones_like(self.y, dtype=np.int64)]).T

    def drawn_columns(self, number):
        columns = list(self.columns)
        words = stream(stream_key(self.options["seed"], [COLUMNS, number]), len(columns))
        count = min(self.options["columns_per_tree"], len(columns))
        for i in range(count):
            other = i + (int(words[i] >> np.uint64(32)) * (len(columns) - i) >> 32)
            columns[i], columns[other] = columns[other], columns[i]
        return sorted(columns[:count])

    def grow(self, columns, bag, gradient):
        """Nodes before they have values."""
        self.gradient = gradient
        root = {"rows": bag, "limits": (-np.inf, np.inf)}
        nodes = [root]

        def penalty(leaves):
            return (self.options["leaf_penalty"] * leaves + self.options["split_penalty"]) * self.unit

        if self.options["symmetric"]:
            level = [0]
            for _ in range(self.options["depth"]):
                gain, *cut = self.best_cut(columns, [nodes[at]["rows"] for at in level])
                if not gain > penalty(float(len(level))):
                    break
                nodes += [{}] * (2 * len(level))
                for at in level:
                    self.split(nodes, at, cut, 2 * at + 1)
                level = [child for at in level for child in (2 * at + 1, 2 * at + 2)]
            return nodes
        leaves = [(0, self.best_cut(columns, [bag]))]
        while len(leaves) < self.options["max_leaves"]:
            gains = [found[0] for _, found in leaves]
            which = int(np.argmax(gains))
            at, (gain, *cut) = leaves[which]
            if not gain > penalty(1.0):
                break
            left = len(nodes)
            nodes += [{}, {}]
            self.split(nodes, at, cut, left)
            leaves[which] = (left, self.best_cut(columns, [nodes[left]["rows"]]))
            leaves.append((left + 1, self.best_cut(columns, [nodes[left + 1]["rows"]])))
        return nodes

    def split(self, nodes, at, cut, left):
        column, last, missing_left = cut
        rows, (lower, upper) = nodes[at]["rows"], nodes[at]["limits"]
        goes_left = self.goes_left(column, last, missing_left)[rows]
        sides = [rows[goes_left], rows[~goes_left]]
        limits = [[lower, upper], [lower, upper]]
        direction = 0 if self.monotone is None else self.monotone[column]
        if direction:
            middle = sum(min(max(self.value(side), lower), upper) for side in sides) / 2
            limits[0 if direction > 0 else 1][1] = middle
            limits[1 if direction > 0 else 0][0] = middle
        for k in (0, 1):
            nodes[left + k] = {"rows": sides[k], "limits": limits[k]}
        nodes[at] = {"split": (left, column, last, missing_left)}

    def value(self, rows):
        below = float(self.gradient[rows, -2].sum()) + self.options["l2"] * self.unit
        return -float(self.gradient[rows, 0].sum()) / below if below > 0 else 0.0

    def goes_left(self, column, last, missing_left):
        codes = self.codes[column]
        return (codes <= last) & (codes != MISSING) | ((codes == MISSING) & missing_left)

    def best_cut(self, columns, leaves):
        best = (0.0, None, None, None)
        for column in columns:
            for missing_left in (False, True) if self.has_missing[column] else (False,):
                n_cuts = int(self.n_bins[column]) - (1 if missing_left or not self.has_missing[column] else 0)
                for last in range(n_cuts):
                    goes_left = self.goes_left(column, last, missing_left)
                    gain = 0.0
                    for rows in leaves:
                        if len(rows) >= 2 * self.options["min_rows"]:
                            gain += self.gain(rows, goes_left[rows], column)
                    if gain > best[0]:
                        best = (gain, column, last, missing_left)
        return best

    def gain(self, rows, goes_left, column):
        o, l2 = self.options, self.options["l2"] * self.unit
        total = self.gradient[rows].sum(axis=0)
        left = self.gradient[rows[goes_left]].sum(axis=0)
        right = total - left

        def square(sums):
            found = 0.0
            for one in sums[:-2]:
                found += float(one) * float(one)
            return found

        if (
            min(left[-1], right[-1]) < o["min_rows"]
            or min(left[-2], right[-2]) < o["min_hessian"] * self.unit
        ):
            return 0.0
        if self.monotone is not None and self.monotone[column]:
            a, b = float(left[-2]) + l2, float(right[-2]) + l2
            if self.monotone[column] * (float(right[0]) * a - float(left[0]) * b) > 0:
                return 0.0
        children = square(left) / (float(left[-2]) + l2) + square(right) / (float(right[-2]) + l2)
        return children - square(total) / (float(total[-2]) + l2)

    def leaves(self, nodes):
        at = np.zeros(len(self.y), dtype=np.int64)
        for k, node in enumerate(nodes):
            if "split" in node:
                left, *cut = node["split"]
                here = at == k
                at[here] = np.where(self.goes_left(*cut)[here], left, left + 1)
        return at

    def put_values(self, nodes, leaf):
        p = self.p.astype(np.float64)
        unit = self.weight * self.fine
        factor = 1.0 if self.n_outputs == 1 else self.n_outputs / (self.n_outputs - 1)
        gradient = np.rint((p - self.truth) * unit).astype(np.int64)
        hessian = np.rint(p * (1.0 - p) * unit).astype(np.int64)
        for k, node in enumerate(nodes):
            if "split" in node:
                continue
            rows = self.training[leaf[self.training] == k]
            values = []
            for output in range(self.n_outputs):
                below = factor * float(hessian[output, rows].sum()) + self.options["l2"] * self.fine
                value = -float(gradient[output, rows].sum()) / below if below > 0 else 0.0
                value = min(max(value, node["limits"][0]), node["limits"][1])
                values.append(np.float32(self.options["learning_rate"] * value))
            node["value"] = values
