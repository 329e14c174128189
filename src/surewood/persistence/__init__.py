"""Safe model files: `save` and `load` without pickle."""

from surewood.persistence.archive import read_card, read_facts
from surewood.persistence.errors import ModelFileError
from surewood.persistence.model_file import FORMAT, load, save

__all__ = ["FORMAT", "ModelFileError", "load", "read_card", "read_facts", "save"]
