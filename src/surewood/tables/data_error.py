"""The error for a data set or table that cannot be used."""


class DataError(ValueError):
    """A data set or table that is not available or cannot be used; the message says why and what to do."""
