"""Seeds as functions of names: a unit's draws depend on what it is, never on when it runs."""

from __future__ import annotations

from hashlib import blake2b


def seed_of(*parts: object) -> int:
    """A 32-bit seed for the thing these parts name.

    Examples
    --------
    >>> seed_of("rcf", "vowel", 0) == seed_of("rcf", "vowel", 0) != seed_of("rcf", "vowel", 1)
    True
    """
    text = "/".join(str(part) for part in parts)
    return int.from_bytes(blake2b(text.encode(), digest_size=4).digest(), "big")
