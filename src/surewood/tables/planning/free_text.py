"""Free text as a few numbers: hashed word and character n-grams, TF-IDF, and the leading directions of it.

No labels are used. The n-grams are hashed, so no vocabulary is stored: an encoding is three arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.preprocessing import normalize

from surewood._arrays import Floats, check_values
from surewood.tables.planning.column_plan import distinct_texts

MAX_NUMBERS = 20
_HASHED = 1 << 12  # columns of the hashed words, and of the hashed characters
_FITTED_TEXTS = 20_000  # distinct texts that the directions are learned from
_BLOCK = 4096
_LARGEST_IDF = 100.0  # 1 plus a logarithm of a number of texts
_LONGEST = 1e6  # directions have length 1


@dataclass(frozen=True)
class TextEncoding:
    """How the texts of a column become numbers.

    Attributes
    ----------
    used : ndarray of int
        Hashed columns that occurred in training.
    idf : ndarray of float
        Their inverse document frequencies.
    directions : ndarray of float32 of shape (n_numbers, n_used)
        Directions of largest spread of the training texts.

    Examples
    --------
    >>> texts = ["the cat sat", "a dog barked loudly", "the cat slept", "dogs bark at cats"]
    >>> encoding = fit_text_encoding(texts, max_numbers=2)
    >>> numbers = encoding.transform(pd.Series(["the cat sat", None]))
    >>> numbers.shape, bool(np.isnan(numbers[1]).all())
    ((2, 2), True)
    """

    used: NDArray[np.int64]
    idf: Floats
    directions: NDArray[np.float32]

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        n_used = len(self.idf)
        check_values("used", self.used, "iu", (n_used,), 0, _counted(["a"]).shape[1] - 1)
        check_values("idf", self.idf, "f", (n_used,), 0.0, _LARGEST_IDF)
        check_values("directions", self.directions, "f", (None, n_used), -_LONGEST, _LONGEST)

    @property
    def n_numbers(self) -> int:
        """Numbers per text."""
        return len(self.directions)

    def transform(self, column: pd.Series) -> Floats:
        """One row of numbers per value; missing texts are missing numbers."""
        codes, texts = distinct_texts(column)
        found = np.full((len(texts) + 1, self.n_numbers), np.nan)
        for start in range(0, len(texts), _BLOCK):
            block = texts[start : start + _BLOCK]
            found[start : start + len(block)] = self._weighted(_counted(block)) @ self.directions.T
        return found[codes]

    def _weighted(self, counts: sp.csr_matrix) -> sp.csr_matrix:
        weighted = counts[:, self.used].multiply(self.idf)
        return normalize(sp.csr_matrix(weighted))


def fit_text_encoding(texts: Sequence[str], max_numbers: int = MAX_NUMBERS) -> TextEncoding:
    """Learn an encoding from distinct texts, at most 20,000 of them, evenly spread over the sorted ones."""
    # Sorted, so that the encoding does not depend on the order of the rows.
    ordered = sorted(set(texts))
    step = max(1, -(-len(ordered) // _FITTED_TEXTS))
    counts = _counted(ordered[::step])
    documents = np.asarray((counts > 0).sum(axis=0)).ravel()
    used = np.flatnonzero(documents)
    idf = np.log((1.0 + counts.shape[0]) / (1.0 + documents[used])) + 1.0
    whole = TextEncoding(used, idf, np.zeros((0, len(used)), dtype=np.float32))
    weighted = whole._weighted(counts)
    directions = _leading_directions(weighted, min(max_numbers, min(weighted.shape) - 1))
    return TextEncoding(used, idf, directions)


def _counted(texts: Sequence[str]) -> sp.csr_matrix:
    """Logarithms of the counts of hashed words, pairs of words, and three or four characters within words."""
    kinds: tuple[dict[str, Any], ...] = (
        {"analyzer": "word", "ngram_range": (1, 2), "token_pattern": r"(?u)\b\w+\b"},
        {"analyzer": "char_wb", "ngram_range": (3, 4)},
    )
    parts = [
        HashingVectorizer(n_features=_HASHED, alternate_sign=False, norm=None, **kind).transform(texts)
        for kind in kinds
    ]
    counts = sp.csr_matrix(sp.hstack(parts))
    counts.data = np.log1p(counts.data)
    return counts


def _leading_directions(weighted: sp.csr_matrix, n_numbers: int) -> NDArray[np.float32]:
    if n_numbers < 1:
        mean = np.asarray(weighted.mean(axis=0)).reshape(1, -1)
        return mean.astype(np.float32)
    from sklearn.decomposition import TruncatedSVD

    svd = TruncatedSVD(n_numbers, algorithm="randomized", n_iter=7, random_state=0)
    return np.asarray(svd.fit(weighted).components_, dtype=np.float32)
