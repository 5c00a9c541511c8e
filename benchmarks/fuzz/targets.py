"""Every parser of files and bodies: functions of bytes that may raise only the service's errors.

Whatever else one raises is a bug: a client would get a 500, or a damaged file a traceback.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from pydantic import BaseModel, ValidationError

from service.api.body import parse_json
from service.api.openapi import REQUESTS
from service.api.validation import explain
from service.bundle.manifest import Manifest
from service.bundle.reader import read_bundle, read_manifest
from service.classification.example import example_from_json
from service.classification.head import HeadManifest, read_head
from service.errors import InterlinguaError
from service.huggingface.layout import read_layout
from service.search.document import document_from_json
from service.search.filters import compile_conditions
from service.search.incoming import incoming_from_json
from service.search.index import load_index
from service.security.grants import read_line
from service.security.keys import read_keys
from service.text.clean import clean
from service.text.sentences import split_sentences
from service.text.vocabulary import read_vocabulary

Target = Callable[[bytes], object]


def json_body(content: bytes) -> object:
    """A body, as JSON."""
    return parse_json(content)


def request_models(content: bytes) -> object:
    """A body, as each request there is."""
    value = parse_json(content)
    for model in REQUESTS:
        _validate(model, value)
    return value


def document(content: bytes) -> object:
    """A document, with and without a vector."""
    value = parse_json(content)
    _expect(lambda: document_from_json(value))
    return incoming_from_json(value, dimension=4)


def example(content: bytes) -> object:
    """A labelled example."""
    value = parse_json(content)
    _expect(lambda: example_from_json(value, multi_label=True))
    return example_from_json(value, multi_label=False)


def search_filter(content: bytes) -> object:
    """A filter on metadata."""
    value = parse_json(content)
    return compile_conditions(value) if isinstance(value, dict) else None


def key_line(content: bytes) -> object:
    """A line of a keys file."""
    line = content.decode(errors="surrogateescape")
    return read_line(line) if line.split() else None


def keys_file(content: bytes) -> object:
    """A keys file; what is no UTF-8 is an error of its own, which its reader logs."""
    try:
        return _from_file(content, "keys", read_keys)
    except UnicodeDecodeError:
        return None


def bundle_manifest(content: bytes) -> object:
    """`bundle.json`."""
    return _from_file(content, "bundle.json", lambda path: read_manifest(path, Manifest))


def bundle(content: bytes) -> object:
    """A bundle that has only its manifest."""
    return _from_file(content, "bundle.json", lambda path: read_bundle(path.parent))


def head_manifest(content: bytes) -> object:
    """`head.json`."""
    return _from_file(content, "head.json", lambda path: read_manifest(path, HeadManifest))


def head(content: bytes) -> object:
    """A head that has only its manifest."""
    return _from_file(content, "head.json", lambda path: read_head(path.parent))


def vocabulary(content: bytes) -> object:
    """A vocabulary of words and n-grams; what is none is a ValueError, which its caller expects."""
    try:
        tokenizer = read_vocabulary(content)
    except ValueError:
        return None
    return tokenizer.encode(["the cat"], max_tokens=8)


def index_file(content: bytes) -> object:
    """A saved index; one that is damaged is an empty one."""
    return _from_file(content, "index.faiss", lambda path: load_index(path, 4))


def other_models(content: bytes) -> object:
    """`config.json` of a directory that another tool wrote."""
    return _from_file(content, "config.json", lambda path: read_layout(path.parent))


def text(content: bytes) -> object:
    """A text: cleaned, and split into sentences."""
    decoded = content.decode("utf-8", "surrogateescape" if len(content) % 2 else "replace")
    return split_sentences(clean(decoded), language="en")


TARGETS: dict[str, Target] = {
    target.__name__: target
    for target in (
        json_body, request_models, document, example, search_filter, key_line, keys_file,
        bundle_manifest, bundle, head_manifest, head, vocabulary, index_file, other_models, text,
    )
}  # fmt: skip


def holds(target: Target, content: bytes) -> None:
    """Give `content` to `target`; what it refuses as it should is fine."""
    with np.errstate(all="ignore"):
        _expect(lambda: target(content))


def _expect(call: Callable[[], object]) -> None:
    try:
        call()
    except InterlinguaError as error:
        str(error)


def _validate(model: type[BaseModel], value: object) -> None:
    try:
        model.model_validate(value)
    except ValidationError as error:
        str(explain(error.errors(include_url=False), model))


def _from_file(content: bytes, name: str, read: Callable[[Path], object]) -> object:
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / name
        path.write_bytes(content)
        return read(path)


def seeds(root: Path) -> Sequence[bytes]:
    """Return files of the repository that begin the search: manifests, and requests by example."""
    files = [
        *root.glob("models/*/*.json"), *root.glob("service/demo/*.jsonl"),
    ]  # fmt: skip
    found = [file.read_bytes()[:4096] for file in files]
    for model in REQUESTS:
        extra = model.model_config.get("json_schema_extra")
        examples = extra.get("examples") if isinstance(extra, dict) else None
        for one in examples if isinstance(examples, list) else ():
            found.append(json.dumps(one).encode())
    return found
