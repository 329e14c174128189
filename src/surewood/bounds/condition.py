"""A condition of a guarantee, stated by whoever can speak for it; a condition nobody states does not hold."""

from __future__ import annotations

from dataclasses import dataclass

from . import _arguments as check

STATED = "stated by the model"
CHECKED = "checked"
CALLER = "your responsibility"


@dataclass(frozen=True)
class Condition:
    """One condition of a guarantee: a sentence, whether it holds, and who says so.

    Examples
    --------
    >>> from surewood.bounds import Condition
    >>> str(Condition("hard votes", True, "stated by the model"))
    'hard votes: yes (stated by the model)'
    """

    text: str
    holds: bool
    source: str = STATED

    def __str__(self) -> str:
        if self.source == CALLER and self.holds:
            return f"assumes {self.text} ({CALLER})"
        return f"{self.text}: {'yes' if self.holds else 'no'} ({self.source})"


def stated(conditions: dict[str, bool], source: str = STATED) -> tuple[Condition, ...]:
    """Conditions from sentences and whether they hold."""
    return tuple(Condition(text, bool(holds), source) for text, holds in conditions.items())


@dataclass(frozen=True, kw_only=True)
class OnSample:
    """What all evidence about a training sample may add.

    Parameters
    ----------
    majority_error : float, optional
        Error of always predicting the majority class of the sample.
    n_models : int
        Settings among which the model chose on this sample, as far as the bound does not hold for all of
        them at once.
    learned_representation : str
        What was learned from the sample before the bound's features existed (one-hot width, target
        statistics, bins, imputation), in words; empty where nothing was. Not empty: no guarantee ([D-39]).
    """

    majority_error: float | None = None
    n_models: int = 1
    learned_representation: str = ""

    def __post_init__(self) -> None:
        check.count(self.n_models, "n_models", 1)

    def representation(self) -> tuple[Condition, ...]:
        """The condition of [D-39], where it does not hold."""
        if not self.learned_representation:
            return ()
        text = f"features were fixed before the sample was seen (learned: {self.learned_representation})"
        return stated({text: False})
