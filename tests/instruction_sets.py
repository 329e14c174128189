"""Every instruction set that this processor has, one after the other."""

from collections.abc import Iterator

from surewood import _core


def each_instruction_set() -> Iterator[str]:
    """Names of the sets; each is in use during its turn, and the one before is in use again at the end."""
    in_use = _core.instruction_set()
    try:
        for name in ("baseline", "avx2", "avx512"):
            if _core.use_instruction_set(name):
                assert _core.instruction_set() == name
                yield name
    finally:
        assert _core.use_instruction_set(in_use)
    assert not _core.use_instruction_set("avx1024")
    assert _core.instruction_set() == in_use
