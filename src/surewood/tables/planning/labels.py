"""Labels as people write them: white space around them taken off, codes for missing ones recognised."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from surewood.tables.planning.column_plan import is_text
from surewood.tables.planning.missing_codes import codes_among_words, is_missing_code


@dataclass(frozen=True)
class Labels:
    """Cleaned labels.

    Attributes
    ----------
    values : Series
        Labels; missing where there is none.
    n_trimmed : int
        Rows whose label had white space around it.
    coded : tuple of str
        Codes that were read as missing.
    """

    values: pd.Series
    n_trimmed: int = 0
    coded: tuple[str, ...] = ()


def clean_labels(target: pd.Series) -> Labels:
    """Trim labels and find the missing ones; numbers, truth values and categories stay as they are.

    "None" is a class: only a code that cannot be a name, such as ``?`` or ``N/A``, is missing.

    Examples
    --------
    >>> found = clean_labels(pd.Series(["yes", "yes ", "no", "?"]))
    >>> found.values.tolist(), found.n_trimmed, found.coded
    (['yes', 'yes', 'no', nan], 1, ('?',))
    """
    if not is_text(target):
        return Labels(target)
    codes, values = pd.factorize(target, use_na_sentinel=True)
    texts = [value.strip() if isinstance(value, str) else value for value in values]
    words = [text for text in texts if isinstance(text, str)]
    marks = codes_among_words(words)
    coded = tuple(t for t in dict.fromkeys(words) if t != "None" and is_missing_code(t, marks))
    changed = np.array([text is not value and text != value for text, value in zip(texts, values)] + [False])
    known = [None if isinstance(text, str) and text in coded else text for text in texts]
    if not changed.any() and not coded:
        return Labels(target)
    cleaned = pd.Series(np.array([*known, None], dtype=object)[codes], index=target.index, name=target.name)
    blank = tuple(code for code in coded if code)
    return Labels(cleaned, int((changed[codes] & cleaned.notna().to_numpy()).sum()), blank)
