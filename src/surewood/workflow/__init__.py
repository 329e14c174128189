"""From a table file to a model and its files, and from a model to predictions."""

from surewood._lazy import lazy_names as _lazy_names

_HOME = {"predict_to_parquet": "surewood.workflow.parquet_prediction"}

__all__ = sorted(_HOME)
__getattr__, __dir__ = _lazy_names(__name__, _HOME)
