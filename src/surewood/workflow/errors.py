"""The error that users of the workflow get, with one sentence about the cause."""

from __future__ import annotations


class WorkflowError(ValueError):
    """Something that was asked for cannot be done; the message says what and how to fix it.

    Arguments are named as in Python, followed by an equals sign (``holdout=0.5``), so that the command line
    can show them as its options.

    Examples
    --------
    >>> from surewood import workflow
    >>> try:
    ...     workflow.fit("wine", model="boosting")
    ... except workflow.WorkflowError as error:
    ...     print(error)
    model='boosting' is unknown; choose among surewood, rcf, cascade, mddf, auto.
    """
