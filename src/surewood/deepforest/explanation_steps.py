"""One explained prediction of a deep forest, in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from surewood.estimators.describing import Facts, step
from surewood.estimators.wording import probabilities_text

_FEATURES_SHOWN = 5


def explanation_steps(model: Any, explained: Mapping[str, Any]) -> list[Facts]:
    """The final score, then layer by layer: class vector, votes of its forests, features of its splits."""
    lines = [f"all layers together  {probabilities_text(explained['votes'])}"]
    if explained.get("margin") is not None:
        lines.append(f"margin of the first class over the second: {explained['margin']:.3f}")
    return [step("Votes", lines), *(_layer(layer) for layer in explained["layers"])]


def _layer(layer: Mapping[str, Any]) -> Facts:
    weight = layer.get("weight")
    told = "" if weight is None else f", {100 * weight:.0f} % of the final score"
    lines = [f"average of its forests  {probabilities_text(layer['vector'])}"]
    kinds = Counter((str(forest["kind"]), str(forest["vote"])) for forest in layer.get("forests", []))
    if kinds:
        votes = (f"{count} {kind.replace('_', ' ')} for {vote}" for (kind, vote), count in kinds.items())
        lines.append(f"forests: {', '.join(votes)}")
    features = layer.get("features", [])[:_FEATURES_SHOWN]
    if features:
        used = ", ".join(f"{one['feature']} ({_n_splits(one):,})" for one in features)
        lines.append(f"splits on the path, by feature: {used}")
    return step(f"Layer {layer['layer']}{told}", lines)


def _n_splits(one: Mapping[str, Any]) -> int:
    return int(one["splits"])
