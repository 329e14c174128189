"""Safe model files: `save` and `load`, public in surewood itself, work without pickle."""

from surewood.persistence.model_file import FORMAT, ModelFileError, load, read_card, read_facts, save  # noqa: F401

__all__ = ["FORMAT", "ModelFileError", "read_card", "read_facts"]
