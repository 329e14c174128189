"""Safe model files: `save` and `load`, public in surewood itself, work without pickle."""

from surewood.persistence.model_file import ModelFileError, load, read_card, read_facts, save  # noqa: F401

__all__ = ["ModelFileError", "read_card", "read_facts"]
