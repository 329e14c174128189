"""Why a guarantee is withheld: each reason names the check, the counts and the remedy."""

from __future__ import annotations

from enum import Enum


class Reason(Enum):
    """A reason with its sentence.

    Examples
    --------
    >>> print(Reason.ONE_GROUP.say())
    all rows belong to one group; hold out at least two groups
    """

    TRAINING_ROWS = (
        "{matches:,} of {n:,} holdout rows are training rows, about {expected:,} would be expected by "
        'chance; hold out rows that the model was not trained on, or leave these out with copies="leave_out"'
    )
    TRAINING_TABLE = "these are the {n:,} training rows; hold out rows that the model was not trained on"
    CHOSEN_ON = (
        "{matches:,} of {n:,} rows were used to choose the decision rule; certify the model on other rows"
    )
    COPIED_TABLE = (
        "the training table looks copied, and {matches:,} of {n:,} holdout rows equal one of its rows: the "
        "others lack the rows that were entered often; remove repeated rows before dividing the table "
        '(drop_duplicates), or set copies="leave_out" if the holdout was drawn on its own, or copies="count" '
        "if equal rows are separate draws, such as runs of an experiment{unmixed}"
    )
    ENTERED_SEVERAL_TIMES = (
        "every row of the table, its label included, occurs k times or a multiple of it (k >= 2), so holdout "
        "rows are copies of training rows; remove repeated rows before dividing the table (drop_duplicates), "
        'or set copies="count" if equal rows are separate draws, such as runs of an experiment'
    )
    COPIED_HOLDOUT = (
        "the holdout looks copied: {n:,} rows are {distinct:,} different ones, and {percent:.0f} % repeat "
        "another row in every column; remove repeated rows from the holdout (drop_duplicates) if each of "
        "them is one row that was entered several times"
    )
    NOTHING_LEFT = (
        "all {n:,} holdout rows equal a training row, and {why}, so none is left to count; hold out rows "
        "that the model was not trained on, or remove repeated rows before dividing the table "
        "(drop_duplicates)"
    )
    REMOVED = (
        "repeated rows were removed, but equal rows may be ordinary here (the table does not look copied, "
        "some rows differ in the label alone, or one is repeated far more often than most), and different "
        "rows alone are no sample of new rows; enter every row once, and fit without drop_duplicates"
    )
    TIME = (
        "rows are ordered in time, and the future may differ from the past; watch new rows with a monitor, "
        "or leave time out if rows are independent draws"
    )
    ONE_GROUP = "all rows belong to one group; hold out at least two groups"
    TRAINING_SAMPLE = "these rows were used for training; certify the model on rows that were held out"
    CONDITIONS = "conditions not met: {conditions}; a holdout gives a guarantee without them"
    NOT_ASKED = "not among the methods asked for; methods=None gives all that apply"
    CHOSEN_THRESHOLD = (
        "the threshold was chosen on the holdout, so the error of its decisions is measured, not guaranteed; "
        "certify the model on other rows"
    )
    NO_DIFFERENCE = (
        "no difference is guaranteed: {quantity} lies between {lower} and {upper}; more holdout rows "
        "would narrow the limits"
    )

    def say(self, **counts: object) -> str:
        """The sentence, without a full stop."""
        return self.value.format(**counts)
