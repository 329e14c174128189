"""Types of the compiled core; tests/test_core_bindings.py checks that the names agree."""

import numpy as np
from numpy.typing import NDArray

def instruction_set() -> str: ...
def random_words(seed: int, ids: NDArray[np.uint64], count: int) -> NDArray[np.uint64]: ...
