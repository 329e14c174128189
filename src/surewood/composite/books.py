"""What a fitted composite estimator tells about itself: ledger, criterion, explanation, evidence."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils.validation import check_is_fitted

from surewood._arrays import Floats
from surewood.bounds import Evidence, LeafLedger
from surewood.composite import accounting, report_facts
from surewood.composite import parameters as check
from surewood.composite.explaining import explain_rows
from surewood.composite.explanation_steps import explanation_steps
from surewood.composite.tree_nodes import tree_nodes
from surewood.tables import begin_predict


class Books:
    """Methods that only read fitted attributes."""

    __report_facts__ = report_facts.report_facts
    __explanation_steps__ = explanation_steps
    leaf_terms = report_facts.leaf_terms
    leaf_degrees = report_facts.leaf_degrees

    def _names(self) -> Any:
        names = getattr(self, "feature_names_in_", None)
        return [f"x{j}" for j in range(self.n_features_in_)] if names is None else names

    @property
    def feature_importances_(self) -> Floats:
        """Impurity importances of the questions, summing to 1 (all 0 when no tree asks any)."""
        check_is_fitted(self, "model_")
        total = self._importances.sum()
        return self._importances / total if total > 0 else self._importances

    def _ledger_of(self, tree: int, words: bool = True) -> LeafLedger:
        paths = None
        if words:
            names, mapper = self._names(), self.reader_.mapper
            paths = accounting.path_words(self.model_, tree, mapper, names, self.schema_)
        setting = self.settings_[self._part_of_tree[tree]]
        return accounting.tree_ledger(self.model_, tree, setting, self.n_design_, self.n_features_in_, paths)

    def ledger(self, tree: int | None = None) -> pd.DataFrame:
        """One row a leaf: depth, path, counts, degree, complexity, and which side of the minimum decided.

        Parameters
        ----------
        tree : int, optional
            One tree only. Plain trees have no ledger: every leaf of theirs is a constant.
        """
        check_is_fitted(self, "model_")
        trees = range(self.model_.n_trees) if tree is None else [check.integer(tree, "tree", 0)]
        if tree is not None and tree >= self.model_.n_trees:
            raise ValueError(f"tree must be below {self.model_.n_trees}, got {tree}.")
        return accounting.ledger_frame(((t, self._ledger_of(t)) for t in trees), self.model_)

    def nodes(self, tree: int = 0) -> pd.DataFrame:
        """A composite tree, one row a node, parents first.

        Returns
        -------
        DataFrame
            ``node``, ``parent`` (-1 at the root), ``depth``, ``condition`` (the answer that leads here, in
            words), ``points``, ``errors`` and ``complexity_term`` (sums over the leaves below), ``leaf`` (its
            number in :meth:`ledger`, -1 at inner nodes), ``degree`` (-1 there) and ``side``.
        """
        check_is_fitted(self, "model_")
        tree = check.integer(tree, "tree", 0)
        if tree >= self.model_.n_trees:
            raise ValueError(f"tree must be below {self.model_.n_trees}, got {tree}.")
        ledger = self._ledger_of(tree, False)
        return tree_nodes(self.model_, tree, ledger, self.reader_.mapper, self._names(), self.schema_)

    @property
    def criterion_(self) -> Floats:
        """CRITERION (2.9) of each composite tree with its gamma_scale: a selection score, not a bound."""
        check_is_fitted(self, "model_")
        return np.array(
            [accounting.criterion_values(self._ledger_of(t, False))[0] for t in range(self.model_.n_trees)]
        )

    @property
    def active_leaves_(self) -> float:
        """Share of leaves at which the complexity side of the minimum was the smaller one (§2.9)."""
        check_is_fitted(self, "model_")
        active = [self._ledger_of(t, False).active for t in range(self.model_.n_trees)]
        return float(np.concatenate(active).mean())

    @property
    def degrees_histogram_(self) -> dict[int, int]:
        """Number of leaves of each degree, over all composite trees."""
        check_is_fitted(self, "model_")
        degrees, counts = np.unique(self.model_.facts.degree, return_counts=True)
        return {int(d): int(n) for d, n in zip(degrees, counts)}

    def explain(self, X: Any) -> list[dict[str, Any]]:
        """How rows were classified: path, leaf, degree and vote of every composite tree.

        Parameters
        ----------
        X : table of a few rows
            Every row gives as many paths as there are trees.

        Returns
        -------
        list of dict
            One a row, of values that JSON knows: ``kind`` ("composite"), ``prediction``, ``probabilities``
            and ``votes`` (mean score of the trees) by label, ``features`` (questions met about each), and
            ``trees``, one entry a tree with ``tree``, ``leaf`` (as in :meth:`apply` and :meth:`ledger`),
            ``path``, ``degree`` (0: constant), ``points`` and ``correct`` (training weight of the leaf) and
            ``vote``. A step of a path has ``feature``, ``operator``, ``value`` and the row's ``actual``
            value. ``support`` are the nearest support points of the leaf machines (training ``row``,
            ``distance``, ``label``); ``plain_trees`` says what the plain trees vote, where there are any.
        """
        table = begin_predict(self, X)
        return explain_rows(self, table, self.predict_proba(X), self._support_origin)

    def __certificate_evidence__(self) -> Iterable[Evidence]:
        """What `surewood.certify` may use: counts of the trees, out-of-bag votes, held-out error."""
        check_is_fitted(self, "model_")
        hard = self.leaf_scores == "one_hot" and self.plain_share_ == 0.0
        if all(s.sampling == "all" for s in self.settings_) and self.plain_share_ == 0.0:
            trees = [
                accounting.tree_evidence(
                    self.model_,
                    tree,
                    self.settings_[self._part_of_tree[tree]],
                    n_features=self.n_design_,
                    n_questions=self.n_features_in_,
                    n_degrees=self._n_degrees,
                    growth=self._growth,
                    one_hot=self.leaf_scores == "one_hot",
                    unweighted=self._unweighted,
                    affine=self._affine,
                )
                for tree in range(self.model_.n_trees)
            ]
            yield accounting.forest_evidence(trees, hard)
        if self._votes is not None:
            yield self._votes
        if self._held_out_rows:
            yield accounting.held_out_evidence(
                self.held_out_error_, self._held_out_rows, str(self._held_out_kind), self._tuned
            )
