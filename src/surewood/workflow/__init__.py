"""From a table file to a model and its files, and from a model to predictions, certificates and explanations.

What the command ``surewood`` does, as functions: :func:`fit`, :func:`predict`, :func:`certify_model`,
:func:`explain`, :func:`describe`, :func:`importances`, :func:`compare` and :func:`monitor`. Each returns a
frozen dataclass; what cannot be done raises a :class:`WorkflowError` with one sentence.
"""

from surewood._lazy import lazy_names as _lazy_names

_HOME = {
    "Certification": "surewood.workflow.certifying",
    "ColumnImportances": "surewood.workflow.explaining",
    "ColumnOptions": "surewood.workflow.columns",
    "Comparison": "surewood.workflow.comparing",
    "DecisionRule": "surewood.workflow.deciding",
    "Explanation": "surewood.workflow.explaining",
    "Finding": "surewood.workflow.columns",
    "FitResult": "surewood.workflow.fitting",
    "Monitoring": "surewood.workflow.monitoring",
    "Prediction": "surewood.workflow.predicting",
    "Reported": "surewood.workflow.reporting",
    "SavedModel": "surewood.workflow.folders",
    "TableOptions": "surewood.workflow.labelled_table",
    "WorkflowError": "surewood.workflow.errors",
    "certify_model": "surewood.workflow.certifying",
    "check_table": "surewood.workflow.columns",
    "compare": "surewood.workflow.comparing",
    "describe": "surewood.workflow.explaining",
    "explain": "surewood.workflow.explaining",
    "fit": "surewood.workflow.fitting",
    "importances": "surewood.workflow.explaining",
    "make_report": "surewood.workflow.reporting",
    "monitor": "surewood.workflow.monitoring",
    "open_model": "surewood.workflow.folders",
    "plan_table": "surewood.workflow.fitting",
    "predict": "surewood.workflow.predicting",
    "predict_to_parquet": "surewood.workflow.predicting",
}

__all__ = sorted(_HOME)
__getattr__, __dir__ = _lazy_names(__name__, _HOME)
