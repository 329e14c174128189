"""A composite forest as plain values: degrees, some trees node by node, the ledger."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from surewood.parallel.progress import stage
from surewood.report.plain import plain, short

__all__ = ["composite_facts"]

MAX_TREES = 8  # drawn
MAX_LEAVES = 400  # of the ledger on a page
COLUMNS = (
    "tree",
    "leaf",
    "path",
    "points",
    "errors",
    "degree",
    "complexity_term",
    "sample_term",
    "side",
    "C",
)


def composite_facts(model: Any, verbose: int = 0) -> dict[str, Any]:
    """Facts of a fitted composite tree or forest."""
    books, drawn = [], []
    with stage(verbose, "reading the trees' ledgers", model.model_.n_trees) as advance:
        for tree in range(model.model_.n_trees):
            books.append(model.ledger(tree))
            advance(1)
    ledger = pd.concat(books, ignore_index=True)
    chosen = _chosen_trees(ledger)
    with stage(verbose, "drawing trees", len(chosen)) as advance:
        for tree in chosen:
            drawn.append(_tree(model, tree))
            advance(1)
    plain_trees = model.model_.plain
    return plain(
        {
            "kind": "composite",
            "n_trees": model.model_.n_trees,
            "n_plain_trees": 0 if plain_trees is None else plain_trees.n_trees,
            "plain_share": model.plain_share_,
            "n_leaves": len(ledger),
            "active_leaves": model.active_leaves_,
            "held_out_error": model.held_out_error_,
            "degrees": _degrees(ledger),
            "settings": [_setting(setting) for setting in model.settings_],
            "trees": drawn,
            "ledger": _ledger(ledger),
        }
    )


def _degrees(ledger: pd.DataFrame) -> list[dict[str, Any]]:
    rows = []
    for degree, group in ledger.groupby("degree"):
        felt = int((group["side"] == "complexity").sum())
        rows.append(
            {
                "degree": int(degree),
                "leaves": len(group),
                "active": felt,
                "points": float(group["points"].sum()),
            }
        )
    return rows


def _setting(setting: Any) -> dict[str, Any]:
    names = ("max_depth", "max_features", "degrees", "C", "gamma_scale", "selection", "sampling")
    return {name: getattr(setting, name) for name in names}


def _chosen_trees(ledger: pd.DataFrame) -> list[int]:
    """Trees to draw: those with most leaves, of them the ones with fewest errors."""
    size = ledger.groupby("tree").agg(leaves=("leaf", "size"), errors=("errors", "sum")).reset_index()
    order = size.sort_values(["leaves", "errors", "tree"], ascending=[False, True, True], kind="stable")
    return [int(tree) for tree in order["tree"][:MAX_TREES]]


def _tree(model: Any, tree: int) -> dict[str, Any]:
    nodes = model.nodes(tree)
    nodes["condition"] = [short(words, 80) for words in nodes["condition"]]
    return {"tree": tree, "leaves": int((nodes["leaf"] >= 0).sum()), "nodes": nodes.to_dict("records")}


def _ledger(ledger: pd.DataFrame) -> dict[str, Any]:
    """The leaves with most points, in the order of the trees."""
    order = np.argsort(-ledger["points"].to_numpy(), kind="stable")[:MAX_LEAVES]
    shown = ledger.iloc[np.sort(order)][list(COLUMNS)].copy()
    shown["path"] = [short(path, 240) for path in shown["path"]]
    return {"columns": list(COLUMNS), "rows": shown.to_numpy(dtype=object).tolist(), "n_leaves": len(ledger)}
