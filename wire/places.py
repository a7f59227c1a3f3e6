"""Room codes, names and partitions: what every service computes the same way."""

from __future__ import annotations

import secrets
import unicodedata
import zlib

CODE_ALPHABET = "BCDFGHJKMNPQRTVWXYZ"
"""No vowels (no words by chance), no look-alikes (L, S and digits)."""
CODE_LENGTH = 5
PARTITIONS = 64
NAME_LENGTH = 16
_BLANK = frozenset("\u115f\u1160\u2800\u3164\uffa0")
"""Letters and signs that look like nothing: fillers of Hangul, the empty Braille cell."""


def new_code() -> str:
    return "".join(secrets.choice(CODE_ALPHABET) for _ in range(CODE_LENGTH))


def tidy_code(text: str) -> str | None:
    """A code as typed (lower case, spaces, dashes) as a code; None when it is none.

    >>> tidy_code(" bcd-fg ")
    'BCDFG'
    """
    code = "".join(c for c in text.upper() if c not in " -\t\n\u00a0.")
    if len(code) == CODE_LENGTH and all(c in CODE_ALPHABET for c in code):
        return code
    return None


def clean_name(text: str) -> str | None:
    """A name of 1 to 16 characters: no control or format characters, white space folded; None when nothing shows.

    >>> clean_name("  Ann \\n Lee ")
    'Ann Lee'
    """
    shown = "".join(
        " " if c in _BLANK or unicodedata.category(c) in ("Zs", "Zl", "Zp", "Cc") else c
        for c in unicodedata.normalize("NFC", text)
        if unicodedata.category(c) not in ("Cf", "Cs", "Co", "Cn")
    )
    name = " ".join(shown.split())[:NAME_LENGTH].strip()
    return name if any(unicodedata.category(c)[0] in "LNPS" for c in name) else None


def partition_of(room: str) -> int:
    """The partition that a room hashes onto (CRC-32; the hash's name is kept beside the count)."""
    return zlib.crc32(room.encode()) % PARTITIONS


PARTITION_HASH = "crc32-64"
