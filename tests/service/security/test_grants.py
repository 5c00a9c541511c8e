from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.errors import InputError
from service.security.grants import (
    ALL_SCOPES,
    KEY_PREFIX,
    Grant,
    Scope,
    digest_of,
    new_key,
    read_line,
    write_line,
)

NAMES = st.from_regex(r"[a-z][a-z0-9-]{0,20}", fullmatch=True)
GRANTS = st.builds(
    Grant,
    client=NAMES,
    scopes=st.frozensets(st.sampled_from(Scope), min_size=1),
    corpora=st.none() | st.lists(NAMES | NAMES.map(lambda n: n + "*"), min_size=1).map(tuple),
    rate=st.none() | st.integers(1, 1000).map(float),
)


@given(GRANTS)
def test_what_is_written_is_read(grant: Grant) -> None:
    key = new_key()
    line = write_line(key, grant)
    assert key not in line
    found = read_line(line)
    assert found.grant == grant
    assert found.digest == digest_of(key)
    assert found.hashed


def test_a_bare_key_is_good_for_everything() -> None:
    grant = read_line("sesame").grant
    assert grant.scopes == ALL_SCOPES
    assert grant.corpora is None
    assert grant.rate is None
    assert "sesame" not in grant.client


def test_keys_are_long_and_never_alike() -> None:
    keys = {new_key() for _ in range(100)}
    assert len(keys) == 100
    assert all(key.startswith(KEY_PREFIX) and len(key) >= 43 for key in keys)


@pytest.mark.parametrize(
    ("pattern", "corpus", "fits"),
    [("notes", "notes", True), ("notes", "notes2", False), ("team-*", "team-a", True),
     ("team-*", "team-", True), ("team-*", "other", False), ("*", "any", True),
     ("no.es", "notes", False), ("notes,team-*", "team-b", True)],
)  # fmt: skip
def test_corpora_are_names_or_beginnings(pattern: str, corpus: str, fits: bool) -> None:
    assert read_line(f"key corpora={pattern}").grant.allows(corpus) is fits


@pytest.mark.parametrize(
    "words",
    ["scopes=", "scopes=embed,all", "corpora=", "corpora=a,,b", "corpora=a*b", "rate=0", "rate=-1",
     "rate=nan", "rate=inf", "rate=fast", "name=", "name=a/b", "scope=embed", "embed",
     "rate=1 rate=2"],
)  # fmt: skip
def test_what_is_not_understood_is_refused_and_the_key_not_shown(words: str) -> None:
    with pytest.raises(InputError) as caught:
        read_line(f"very-secret {words}")
    assert "very-secret" not in str(caught.value)


@pytest.mark.parametrize("digest", ["", "abc", "g" * 64, "A" * 64])
def test_a_digest_has_its_length(digest: str) -> None:
    with pytest.raises(InputError, match="64"):
        read_line(f"sha256:{digest}")
