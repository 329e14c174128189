"""The one error of model files."""


class ModelFileError(ValueError):
    """A file that is not a model, is damaged, too new or too large, or holds a type that is not trusted.

    Examples
    --------
    >>> import surewood
    >>> from surewood.persistence import ModelFileError
    >>> try:
    ...     surewood.load("no-such-file")
    ... except ModelFileError as error:
    ...     print(error)
    there is no model file no-such-file.
    """
