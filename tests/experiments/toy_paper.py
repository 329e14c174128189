"""A paper that costs nothing: what the runner's tests run."""

from surewood.datasets import DataError
from surewood.experiments.paper import Unit
from surewood.experiments.protocol import Profile
from surewood.experiments.seeds import seed_of

PROFILE = Profile("toy", {"kernel": "none"}, {"repeats": 2})


class ToyPaper:
    """Two methods a unit; `missing` sets cannot be had, `interrupt_at` stops before some record."""

    name, title = "toy", "A toy"
    sets = ("alpha", "beta", "gamma")

    def __init__(self, missing=(), interrupt_at=None):
        self.missing, self.interrupt_at, self.ran = set(missing), interrupt_at, []

    def units(self, profile, sets):
        return [Unit(name, k, ("plain", "rich")) for name in sets for k in range(profile.get("repeats"))]

    def run(self, unit, profile, context):
        if unit.dataset in self.missing:
            raise DataError(f"data set {unit.dataset!r} was not found; look elsewhere.")
        for method in unit.methods:
            if method in context.done:
                continue
            if self.interrupt_at == (unit.dataset, unit.repeat, method):
                raise KeyboardInterrupt
            self.ran.append((unit.dataset, unit.repeat, method))
            seed = seed_of(unit.dataset, unit.repeat, method)
            yield {
                "method": method,
                "metrics": {"error": seed / 2**32},
                "chosen": {"degree": seed % 9, "C": None},
                "seconds": 0.0,
                "seeds": {"draw": seed},
            }

    def summarise(self, records, profile, sets=None):
        rows = [[r["dataset"], r["repeat"], r["method"], r["metrics"]["error"]] for r in records]
        return {
            "tables": [
                {
                    "name": "all",
                    "title": "All <of> it",
                    "note": "",
                    "columns": ["set", "repeat", "method", "error"],
                    "rows": rows,
                }
            ]
        }
