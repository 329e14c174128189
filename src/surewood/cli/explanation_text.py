"""One prediction in words: from the dict that ``estimator.explain`` gives to lines for a terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from surewood.cli.model_file import plural

_CLASSES_SHOWN = 4
_TREES_SHOWN = 3
_FEATURES_SHOWN = 5


def explanation_lines(
    explained: Mapping[str, Any], row_names: Mapping[int, str]
) -> Iterator[tuple[str, str]]:
    """Pairs (style, line): "title" for headings, "" for text. `row_names` names training rows by number."""
    words = {
        "composite": _composite,
        "cascade": _cascade,
        "margin_forest": _layers,
        "cascade_forest": _layers,
    }
    yield "title", f"Prediction: {explained['prediction']}"
    yield "", f"probabilities  {_shares(explained['probabilities'])}"
    tell = words.get(explained["kind"])
    if tell is not None:
        yield from tell(explained, row_names)


def _shares(shares: Mapping[str, float]) -> str:
    """The largest shares, as per cent.

    Examples
    --------
    >>> _shares({"a": 0.25, "b": 0.75})
    'b: 75.0 %, a: 25.0 %'
    """
    ranked = sorted(shares.items(), key=lambda item: -item[1])
    text = ", ".join(f"{label}: {100 * share:.1f} %" for label, share in ranked[:_CLASSES_SHOWN])
    rest = len(ranked) - _CLASSES_SHOWN
    return f"{text}, {rest} more" if rest > 0 else text


def _question(step: Mapping[str, Any]) -> str:
    value, operator = step["value"], step["operator"]
    if isinstance(value, list | tuple | set):
        shown = ", ".join(str(v) for v in list(value)[:4]) + (", ..." if len(value) > 4 else "")
        value = f"{{{shown}}}"
    elif isinstance(value, float):
        value = f"{value:.5g}"
    return f"{step['feature']} {operator} {value}".strip()


def _path(steps: list[Mapping[str, Any]]) -> str:
    return ", ".join(_question(step) for step in steps) or "no question: one leaf for all rows"


def _machine(degree: int) -> str:
    if degree == 0:
        return "a constant, its most frequent class"
    return f"a polynomial SVM of degree {degree}"


def _composite(explained: Mapping[str, Any], row_names: Mapping[int, str]) -> Iterator[tuple[str, str]]:
    trees, prediction = explained["trees"], explained["prediction"]
    yield "title", "Votes"
    agreeing = [tree for tree in trees if tree["vote"] == prediction]
    yield "", f"{len(agreeing)} of {len(trees)} composite trees say {prediction}"
    others = Counter(tree["vote"] for tree in trees if tree["vote"] != prediction).most_common()
    if others:
        voices = (f"{count} say {label}" for label, count in others[:_CLASSES_SHOWN])
        yield "", f"the others: {', '.join(voices)}"
    plain = explained.get("plain_trees")
    if plain:
        share = f"{100 * plain['weight']:.0f} % of the vote"
        yield "", f"{plain['trees']} plain trees, {share}  {_shares(plain['votes'])}"
    if plain:
        yield "", f"together  {_shares(explained['votes'])}"
    degrees = Counter(int(tree["degree"]) for tree in trees)
    shown = ", ".join(f"{plural(count, 'leaf').replace('leafs', 'leaves')} of degree {degree}" for degree,
                      count in sorted(degrees.items()))  # fmt: skip
    yield "title", "Leaves it fell into"
    yield "", shown
    dissenting = [tree for tree in trees if tree["vote"] != prediction]
    shown_trees = _telling(agreeing)[: _TREES_SHOWN - bool(dissenting)] + _telling(dissenting)[:1]
    for tree in shown_trees:
        yield "title", f"Tree {tree['tree'] + 1} says {tree['vote']}"
        yield "", f"path: {_path(tree['path'])}"
        points, correct = tree["points"], tree["correct"]
        right = f"{correct:,.0f} of its {points:,.0f} training rows right"
        yield "", f"leaf: {_machine(int(tree['degree']))}, {right}"
    yield from _support(explained.get("support", []), row_names)


def _telling(trees: list[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Trees that asked something first, the largest leaves first; a leaf that repeats is left out."""
    found: dict[tuple[str, int], Mapping[str, Any]] = {}
    for tree in sorted(trees, key=lambda tree: (not tree["path"], -tree["points"])):
        found.setdefault((_path(tree["path"]), int(tree["degree"])), tree)
    return list(found.values())


def _support(
    support: list[Mapping[str, Any]], row_names: Mapping[int, str], indent: str = ""
) -> Iterator[tuple[str, str]]:
    if not support:
        return
    yield "title", f"{indent}Nearest support vectors (training rows that the machines remember)"
    for point in support:
        row = point.get("row")
        name = "a training row" if row is None else row_names.get(int(row), f"training row {int(row) + 1}")
        yield "", f"{name}: {point['label']}, at distance {point['distance']:.3g}"


def _cascade(explained: Mapping[str, Any], row_names: Mapping[int, str]) -> Iterator[tuple[str, str]]:
    cascades, prediction = explained["cascades"], explained["prediction"]
    shown = cascades
    if len(cascades) > 1:
        scores = explained["votes"]
        best = sorted(scores, key=lambda label: -scores[label])[:2]
        shown = [one for one in cascades if str(one["class"]) in best]
        shown.sort(key=lambda one: best.index(str(one["class"])))
        yield "title", "Votes"
        yield "", f"{len(cascades)} cascades, one a class; the largest decision value wins"
        for label in sorted(scores, key=lambda label: -scores[label])[:_CLASSES_SHOWN]:
            yield "", f"{label}: {scores[label]:.3g}"
    for one in shown:
        title = f"Cascade for {one['class']}" if len(cascades) > 1 else "The way through the cascade"
        yield "title", title
        for node in one["nodes"]:
            yield "", _node(node)
        right = f"{one['correct']:,.0f} training rows right, {one['errors']:,.0f} wrong"
        yield "", f"leaf {one['leaf'] + 1}: {right}"
    chosen = next((one for one in shown if str(one.get("class")) == str(prediction)), shown[0])
    yield from _support(chosen.get("support", []), row_names)


def _node(node: Mapping[str, Any]) -> str:
    number = node["node"] + 1
    text = f"machine {number} ({_machine(int(node['degree']))}): distance {node['distance']:.3g}"
    if node["threshold"] is None:
        return f"{text}; the last machine, it decides"
    if node["goes_on"]:
        return f"{text} is at most {node['threshold']:.3g}; too near the boundary, goes on"
    return f"{text} is above {node['threshold']:.3g}; clear enough, decided here"


def _layers(explained: Mapping[str, Any], row_names: Mapping[int, str]) -> Iterator[tuple[str, str]]:
    yield "title", "Votes"
    yield "", f"all layers together  {_shares(explained['votes'])}"
    if explained.get("margin") is not None:
        yield "", f"margin of the first class over the second: {explained['margin']:.3f}"
    for layer in explained["layers"]:
        weight = layer.get("weight")
        share = "" if weight is None else f", {100 * weight:.0f} % of the sum"
        yield "title", f"Layer {layer['layer']}{share}"
        yield "", f"its forests on average  {_shares(layer['vector'])}"
        kinds = Counter((str(forest["kind"]), str(forest["vote"])) for forest in layer.get("forests", []))
        says = (f"{count} {kind.replace('_', ' ')} say {vote}" for (kind, vote), count in kinds.items())
        if kinds:
            yield "", f"forests: {', '.join(says)}"
        features = layer.get("features", [])[:_FEATURES_SHOWN]
        if features:
            asked = ", ".join(f"{f['feature']} ({f['questions']:,})" for f in features)
            yield "", f"questions on the way, most asked first: {asked}"
