"""The one error of model files."""


class ModelFileError(ValueError):
    """A file that is not a model, is damaged, too new or too large, or holds a type that is not trusted."""
