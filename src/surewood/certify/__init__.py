"""What may be promised about a fitted model (theory.md §6).

certificate    the entries, the verdict, and their forms
rendering      text and HTML
claims         guarantees waiting for their share of delta
from_evidence  what a model's own structure and training sample allow
issuing        `certify`
"""

from surewood.bounds import Entry, Method, Withheld

from .certificate import NOTHING_TO_PROMISE, Certificate
from .issuing import certify

__all__ = ["NOTHING_TO_PROMISE", "Certificate", "Entry", "Method", "Withheld", "certify"]
