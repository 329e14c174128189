"""What is guaranteed about a fitted model (theory.md §6, §11).

issuing        `certify`
holdout        reading a holdout: predictions, baseline, claims
counting       which rows count and what counts as one ([D-33])
training_rows  what is known about the training rows ([D-34])
columns        columns of a user's table
claims         `claims=[...]`: error, rates per class, cost, Brier score, groups
from_evidence  what a model's own structure and training sample allow
reading        guarantees waiting for their part of delta
certificate    the entries, the verdict, and their forms
rendering      text and HTML
"""

from surewood.bounds import Entry, Method, Withheld, rows_needed

from .certificate import Certificate
from .claims import Claim
from .issuing import certify

__all__ = ["Certificate", "Claim", "Entry", "Method", "Withheld", "certify", "rows_needed"]
