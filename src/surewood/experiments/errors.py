"""What ends an experiment with one sentence."""


class ExperimentError(ValueError):
    """An experiment that cannot start or go on; the message says why and what to do."""
