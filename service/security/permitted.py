"""The corpora as one client may see them: the others are refused, and are in no list."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from service.errors import ForbiddenError, NotFoundError, unknown_name
from service.search.backend import CorporaBackend, CorpusBackend
from service.search.document import Metadata
from service.search.fields import FieldTypes
from service.search.passages import PassagePolicy
from service.search.policy import IndexPolicy
from service.security.grants import Grant


def permitted(corpora: CorporaBackend, grant: Grant) -> CorporaBackend:
    """Return `corpora`, or where `grant` names some, a view that has those alone."""
    return corpora if grant.corpora is None else PermittedCorpora(corpora, grant)


class PermittedCorpora:
    """A `CorporaBackend` over another that asks a grant first.

    A corpus that is not there is refused like one that is: who may not touch a name does not learn
    whether it exists.
    """

    def __init__(self, corpora: CorporaBackend, grant: Grant) -> None:
        self._corpora = corpora
        self._grant = grant

    def create(
        self,
        name: str,
        *,
        model: str,
        space: str,
        dimension: int,
        metadata: Metadata | None = None,
        passages: PassagePolicy | None = None,
        index: IndexPolicy | None = None,
        fields: FieldTypes | None = None,
        identity: str | None = None,
    ) -> CorpusBackend:
        """Make a corpus, or raise ForbiddenError."""
        self._check(name)
        return self._corpora.create(
            name,
            model=model,
            space=space,
            dimension=dimension,
            metadata=metadata,
            passages=passages,
            index=index,
            fields=fields,
            identity=identity,
        )

    def get(self, name: str) -> CorpusBackend:
        """Return a corpus, or raise ForbiddenError, or NotFoundError with the names it may know."""
        self._check(name)
        with self._own_names(name):
            return self._corpora.get(name)

    def list(self) -> Sequence[CorpusBackend]:
        """Return the corpora that the client may touch."""
        return [corpus for corpus in self._corpora.list() if self._grant.allows(corpus.name)]

    def drop(self, name: str) -> None:
        """Delete a corpus, or raise ForbiddenError, or NotFoundError with the names it may know."""
        self._check(name)
        with self._own_names(name):
            self._corpora.drop(name)

    def close(self) -> None:
        """Nothing: the files are the service's."""

    @contextmanager
    def _own_names(self, name: str) -> Iterator[None]:
        """Have the error for a corpus that is not there list the client's alone."""
        try:
            yield
        except NotFoundError:
            known = [corpus.name for corpus in self.list()]
            raise unknown_name("corpus", name, known, nothing="none yet") from None

    def _check(self, name: str) -> None:
        if not self._grant.allows(name):
            raise ForbiddenError(
                "This key may not touch this corpus.",
                field="corpus",
                given=name,
                remedy="GET /corpora lists those it may; ask the operator for another key.",
            )
