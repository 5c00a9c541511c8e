"""A directory of sentence-transformers or transformers, as a bundle that is served as it lies."""

from __future__ import annotations

import hashlib
import mmap
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from service.bundle.manifest import (
    IMPORTED,
    SHARED,
    UNKNOWN_LANGUAGE,
    EncoderEntry,
    FileEntry,
    Manifest,
    Numbering,
    Pooling,
    Projection,
    Recipe,
    TokenizerEntry,
)
from service.bundle.reader import MANIFEST_FILE, Bundle, file_entry, read_bundle
from service.errors import BundleError
from service.huggingface.layout import GRAPHS, Layout, is_huggingface, model_name, read_layout
from service.text.tokenizer import load_tokenizer

_GRAPH = "encoder.onnx"
_IDENTITY_DIGITS = 12
_PLAIN: Pooling = "mean"
"""What sentence-transformers does to a model of transformers alone."""
_TOKENS_RANK = 3  # [batch, tokens, width]
_POOLED_RANK = 2  # [batch, width]
_LOCATION = re.compile(rb"\n\x08location\x12([\x01-\x7f])")
"""What stands before the name of a file with weights in a graph, and how long the name is: an entry
of ONNX's `TensorProto.external_data`, which is read so since serving needs no package `onnx`."""
_LANGUAGE = re.compile(r"^[a-z]{2,3}$")


def read_model(directory: Path) -> Bundle:
    """Return the model in `directory`, whoever made it.

    Raises:
        BundleError: There is none, or it cannot be trusted or served.
    """
    if (directory / MANIFEST_FILE).exists() or not is_huggingface(directory):
        return read_bundle(directory)
    return huggingface_bundle(read_layout(directory))


def huggingface_bundle(layout: Layout, *, name: str | None = None) -> Bundle:
    """Return a bundle over the files of `layout` as they lie; nothing is written.

    Args:
        layout: With a graph.
        name: Of the model; from its directory if None.

    Raises:
        BundleError: There is no graph or no tokenizer.
    """
    if layout.graph is None:
        raise BundleError(
            f"{layout.directory} has no ONNX weights: none of {', '.join(GRAPHS)}.",
            remedy=f"Import it first: interlingua models import {layout.directory}; or export it "
            "with Hugging Face's optimum: optimum-cli export onnx --model DIR OUT.",
        )
    files = {_GRAPH: layout.graph, **external_data(layout.graph)}
    pooled = _pooled_by_graph(layout)
    width = pooled.width if pooled else None
    return assemble(layout, files, name=name, pooled=pooled is not None, width=width)


def assemble(
    layout: Layout,
    graph_files: Mapping[str, Path],
    *,
    name: str | None,
    pooled: bool,
    width: int | None = None,
) -> Bundle:
    """Return the bundle of a graph and the other files of `layout`.

    Args:
        layout: Whose files.
        graph_files: `encoder.onnx`, and whatever it needs beside it under its own name.
        name: Of the model; from its directory if None.
        pooled: Whether the graph gives sentence vectors, so that nothing is left to do.
        width: Of these; what the other files say if None.

    Raises:
        BundleError: There is no tokenizer, or no manifest can say what the files or `name` do.
    """
    if not (width or layout.dimension):
        raise BundleError(
            f"{layout.transformer / 'config.json'} does not say how wide the vectors are.",
            field="hidden_size",
            remedy="Add hidden_size to it.",
        )
    tokenizer, tokenizer_path = _tokenizer(layout)
    if layout.lower:
        _require_lowering(tokenizer, tokenizer_path)
    files = {**graph_files, tokenizer.file: tokenizer_path}
    projections = []
    for number, layer in enumerate(() if pooled else layout.dense):
        file = f"projection-{number}.safetensors"
        files[file] = layer.weights
        projections.append(
            Projection(file=file, activation=layer.activation, of_unit=layer.of_unit)
        )
    entries = {file: file_entry(path) for file, path in files.items()}
    name = name or model_name(layout.directory)
    weights = {file: entry for file, entry in entries.items() if file != tokenizer.file}
    manifest = checked_manifest(
        name=name,
        family=layout.model.model_type or "transformer",
        description="Made elsewhere and imported; see the card that came with it.",
        space=f"{name[:51]}-{_identity(weights)}",
        dimension=width or layout.dimension,
        matryoshka_dimensions=layout.model.matryoshka_dimensions,
        languages=_languages(layout.directory),
        max_tokens=layout.max_tokens,
        pooling=layout.pooling or ("graph" if pooled else _PLAIN),
        normalised=layout.normalised,
        prompts=layout.prompts,
        default_prompt=layout.default_prompt,
        encoders={
            SHARED: EncoderEntry(
                graph=_GRAPH,
                tokenizer=tokenizer,
                pooling=None if pooled else layout.pooling or _PLAIN,
                projections=tuple(projections),
                include_prompt=layout.include_prompt,
            )
        },
        precision="fp32",
        files=entries,
        recipe=Recipe(name=IMPORTED, scale="given"),
        licence=_front_matter(layout.directory, "license") or "unknown",
    )
    return Bundle(layout.directory, manifest, files)


def checked_manifest(**said: object) -> Manifest:
    """Return the manifest of the fields `said`.

    Raises:
        BundleError: One of them cannot be; it is named.
    """
    try:
        return Manifest.model_validate(said)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        raise BundleError(
            f"No bundle can say this: {first['msg']}.",
            field=field or None,
            given=first["input"] if field else None,
        ) from None


def external_data(graph: Path) -> dict[str, Path]:
    """Return the weights that a graph has in files beside it, by their name."""
    if not graph.stat().st_size:
        return {}  # which cannot be mapped into memory
    with (
        graph.open("rb") as file,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content,
    ):
        named = (
            content[found.end() : found.end() + found[1][0]]
            for found in _LOCATION.finditer(content)
        )
        names = sorted({name.decode(errors="replace") for name in named})
    return {name: graph.parent / name for name in names if (graph.parent / name).is_file()}


def _identity(weights: Mapping[str, FileEntry]) -> str:
    """Return hexadecimal digits that tell a model's vectors from those of others.

    Of a graph alone the beginning of its hash, as corpora have it since the first imports.
    """
    if set(weights) == {_GRAPH}:
        return weights[_GRAPH].sha256[:_IDENTITY_DIGITS]
    listed = "".join(f"{file}\0{weights[file].sha256}\n" for file in sorted(weights))
    return hashlib.sha256(listed.encode()).hexdigest()[:_IDENTITY_DIGITS]


@dataclass(frozen=True, slots=True)
class _Pooled:
    """What is known of the sentence vectors that a graph gives: their width, where it says so."""

    width: int | None


def _pooled_by_graph(layout: Layout) -> _Pooled | None:
    """Return what the graph's sentence vectors are; None where token vectors are pooled here.

    An export of a whole model of sentence-transformers gives both, and comes without the files
    that say how to pool.
    """
    from service.inference.onnx_session import output_shapes
    from service.inference.session import SENTENCES

    assert layout.graph is not None, "the caller's check; this is a bug"
    shapes = output_shapes(layout.graph)
    sentences = shapes.get(SENTENCES, [])
    width = sentences[-1] if len(sentences) == _POOLED_RANK else None
    if _TOKENS_RANK not in map(len, shapes.values()):
        return _Pooled(width)
    own = layout.pooling is None and len(sentences) == _POOLED_RANK
    return _Pooled(width) if own else None


def _tokenizer(layout: Layout) -> tuple[TokenizerEntry, Path]:
    folder = layout.transformer
    padding = layout.model.pad_token_id
    if (folder / "tokenizer.json").is_file():
        entry = TokenizerEntry(kind="huggingface", file="tokenizer.json", padding=padding)
        return entry, folder / "tokenizer.json"
    for name in ("sentencepiece.bpe.model", "spiece.model", "tokenizer.model"):
        if (folder / name).is_file():
            entry = TokenizerEntry(
                kind="sentencepiece",
                file="tokenizer.model",
                numbering=_numbering(layout),
                padding=padding,
            )
            return entry, folder / name
    raise BundleError(
        f"{folder} has no tokenizer.json and no SentencePiece model.",
        remedy="Load it with transformers' AutoTokenizer and save it again: that writes "
        "tokenizer.json.",
    )


def _require_lowering(entry: TokenizerEntry, path: Path) -> None:
    small, large = load_tokenizer(entry, path).encode(["a b", "A B"], max_tokens=16).tokens
    if list(small) != list(large):
        raise BundleError(
            f"The model wants its text in lower case, and {path} does not see to that.",
            field="do_lower_case",
            remedy="Add a Lowercase normalizer to tokenizer.json.",
        )


def _numbering(layout: Layout) -> Numbering:
    if layout.tokenizer.tokenizer_class.startswith("XLMRoberta"):
        # fairseq: <s> 0, <pad> 1, </s> 2, <unk> 3, then the pieces from the file's third on.
        return Numbering(offset=1, unknown=3, before=(0,), after=(2,))
    end = layout.model.eos_token_id
    if layout.tokenizer.tokenizer_class.startswith("T5") and isinstance(end, int):
        return Numbering(after=(end,))
    raise BundleError(
        f"{layout.transformer} has a SentencePiece model of class "
        f"{layout.tokenizer.tokenizer_class or '(none)'}, whose numbering is not known here.",
        remedy="Save its tokenizer.json with transformers' AutoTokenizer, use_fast=True.",
    )


def _languages(directory: Path) -> tuple[str, ...]:
    said = _front_matter(directory, "language")
    found = tuple(dict.fromkeys(code for code in said.split() if _LANGUAGE.match(code)))
    return tuple(c for c in found if c not in ("mul", "multilingual")) or (UNKNOWN_LANGUAGE,)


def _front_matter(directory: Path, key: str) -> str:
    """Return a field of the head of README.md, its items with blanks between; empty if none.

    The head is YAML, of which only the two forms that cards use are read: `key: a` and
    `key:` with `- a` on the lines below.
    """
    path = directory / "README.md"
    text = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
    head = re.match(r"---\r?\n(.*?)\r?\n---", text, re.DOTALL)
    if head is None:
        return ""
    block = re.search(rf"^{key}:(.*(?:\n *- .*)*)", head.group(1), re.MULTILINE)
    if block is None:
        return ""
    return " ".join(re.findall(r"[^\s\[\],'\"-][^\s\[\],'\"]*", block.group(1)))
