"""The error for a data set or table that cannot be used."""


class DataError(ValueError):
    """A data set or table that is not available or cannot be used; the message says why and what to do.

    Examples
    --------
    >>> from surewood.datasets import DataError, load
    >>> try:
    ...     load("wime")
    ... except DataError as error:
    ...     print(error)
    there is no data set called 'wime'; did you mean wine or satimage?
    """
