"""Safe model files: `save` and `load` without pickle."""

from surewood.persistence.model_file import FORMAT, ModelFileError, load, read_card, read_facts, save

__all__ = ["FORMAT", "ModelFileError", "load", "read_card", "read_facts", "save"]
