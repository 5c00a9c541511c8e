"""What a key is good for, and the line of a keys file that says so.

    sha256:HEX  name=team-a  scopes=embed,search  corpora=notes,team-a-*  rate=50

Only the first word must be there. It is the digest of a key, so that a stolen file opens nothing,
or the key itself. Keys are drawn with 256 bits of chance, so their plain digest cannot be searched
for; the slow hashes that passwords need would cost each request a tenth of a second.
"""

from __future__ import annotations

import enum
import hashlib
import re
import secrets
from collections.abc import Iterator
from dataclasses import dataclass

from service.errors import InputError

DIGEST_PREFIX = "sha256:"
KEY_PREFIX = "il_"
_KEY_BYTES = 32
_DIGEST = re.compile(r"[0-9a-f]{64}")
_CORPUS = re.compile(r"[^*,]+\*?|\*")
_NAME = re.compile(r"[\w.@-]{1,64}")


class Scope(enum.StrEnum):
    """What a key may be good for; no scope includes another."""

    EMBED = "embed"  # vectors, similarities, tokens, labels, projections: nothing is stored
    SEARCH = "search"  # read corpora and their documents
    WRITE = "write"  # write documents, fit classifiers
    ADMIN = "admin"  # make, change and drop corpora, drop and switch classifiers


ALL_SCOPES = frozenset(Scope)


@dataclass(frozen=True, slots=True)
class Grant:
    """What whoever sent a request may do.

    Attributes:
        client: Who it is, by a name that tells nothing of the key; empty where no keys are set.
        scopes: What is allowed at all.
        corpora: Names of the corpora it may touch, `team-*` for all that begin so; None for all.
        rate: Requests a second, or None for any number.
    """

    client: str = ""
    scopes: frozenset[Scope] = ALL_SCOPES
    corpora: tuple[str, ...] | None = None
    rate: float | None = None

    def allows(self, corpus: str) -> bool:
        """Return whether it may touch the corpus of this name."""
        return self.corpora is None or any(_fits(corpus, pattern) for pattern in self.corpora)

    def reads(self, corpus: str | None) -> bool:
        """Return whether it may read the documents of this corpus; where None, of any there is."""
        if Scope.SEARCH not in self.scopes:
            return False
        if corpus is None:
            return self.corpora is None or "*" in self.corpora
        return self.allows(corpus)


EVERYTHING = Grant()
"""What everybody may who reaches a service without keys."""


@dataclass(frozen=True, slots=True)
class Key:
    """A key, known by its digest alone."""

    digest: bytes
    grant: Grant
    hashed: bool  # whether its line held the digest, not the key


def new_key() -> str:
    """Return a new key: 256 bits of chance behind a prefix that scanners for secrets find."""
    return KEY_PREFIX + secrets.token_urlsafe(_KEY_BYTES)


def digest_of(text: str) -> bytes:
    """Return what a key is compared by, so that comparing tells nothing of its length."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def read_line(line: str) -> Key:
    """Return the key of one line of a keys file.

    Raises:
        InputError: It is not understood; the message never quotes the key.
    """
    first, *rest = line.split()
    hashed = first.startswith(DIGEST_PREFIX)
    if hashed and not _DIGEST.fullmatch(first.removeprefix(DIGEST_PREFIX)):
        raise InputError(
            f"After {DIGEST_PREFIX} come 64 hexadecimal digits.", remedy="interlingua keys new"
        )
    hexadecimal = first.removeprefix(DIGEST_PREFIX)
    digest = bytes.fromhex(hexadecimal) if hashed else digest_of(first)
    return Key(digest, _grant(digest.hex()[:12], _words(rest)), hashed)


def write_line(key: str, grant: Grant) -> str:
    """Return the line of a keys file that holds `key` as its digest, with `grant`."""
    words = [f"{DIGEST_PREFIX}{digest_of(key).hex()}"]
    if grant.client:
        words.append(f"name={grant.client}")
    if grant.scopes != ALL_SCOPES:
        words.append(f"scopes={','.join(scope for scope in Scope if scope in grant.scopes)}")
    if grant.corpora is not None:
        words.append(f"corpora={','.join(grant.corpora)}")
    if grant.rate is not None:
        words.append(f"rate={grant.rate:g}")
    line = " ".join(words)
    read_line(line)  # what cannot be read must not be written
    return line


def _words(words: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or name not in ("name", "scopes", "corpora", "rate") or name in found:
            raise InputError(
                "After the key come name=, scopes=, corpora= and rate=, each once at most.",
                given=name,
            )
        found[name] = value
    return found


def _grant(identity: str, words: dict[str, str]) -> Grant:
    name = words.get("name", identity)
    if not _NAME.fullmatch(name):
        raise InputError("A name has 1 to 64 letters, digits, or . _ @ -", field="name", given=name)
    return Grant(
        client=name,
        scopes=frozenset(_scopes(words["scopes"])) if "scopes" in words else ALL_SCOPES,
        corpora=tuple(_corpora(words["corpora"])) if "corpora" in words else None,
        rate=_rate(words["rate"]) if "rate" in words else None,
    )


def _scopes(text: str) -> Iterator[Scope]:
    for name in text.split(","):
        try:
            yield Scope(name)
        except ValueError:
            raise InputError(
                f"Scopes are {', '.join(Scope)}.", field="scopes", given=name
            ) from None


def _corpora(text: str) -> Iterator[str]:
    for pattern in text.split(","):
        if not _CORPUS.fullmatch(pattern):
            raise InputError(
                "Corpora are names, or beginnings of names followed by *.",
                field="corpora",
                given=pattern,
            )
        yield pattern


def _rate(text: str) -> float:
    try:
        rate = float(text)
    except ValueError:
        rate = 0.0
    if not 0 < rate <= 1e6:  # not-a-number fails it too
        raise InputError("A rate is requests a second, above 0.", field="rate", given=text)
    return rate


def _fits(corpus: str, pattern: str) -> bool:
    if pattern.endswith("*"):
        return corpus.startswith(pattern[:-1])
    return corpus == pattern
