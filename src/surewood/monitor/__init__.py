"""After deployment: is the guarantee still true? (theory.md §11.6)

watching   `Monitor`: an error alarm with labels, a shift alarm without, limits of the error so far
state      the plain JSON file that a monitor resumes from
batches    which batch is which: a batch seen twice is refused
seen_rows  which rows were counted: batches may overlap
"""

from .state import MonitorStateError
from .watching import Look, Monitor

__all__ = ["Look", "Monitor", "MonitorStateError"]
