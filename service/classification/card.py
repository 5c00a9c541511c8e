"""The card of a head, generated from its manifest."""

from __future__ import annotations

from collections.abc import Iterator

from service.bundle.card import limit_lines, quality_lines
from service.classification.manifest import HeadManifest


def render_head_card(manifest: HeadManifest) -> str:
    """Return `CARD.md` for a head bundle, in Markdown."""
    return "\n".join(_lines(manifest)).rstrip() + "\n"


def _lines(manifest: HeadManifest) -> Iterator[str]:
    size = sum(entry.bytes for entry in manifest.files.values())
    yield f"# {manifest.name}\n"
    if manifest.description:
        yield manifest.description + "\n"
    yield "| | |\n|---|---|"
    yield f"| labels | {', '.join(manifest.labels)} |"
    yield f"| input | {manifest.dimension} dimensions of the space `{manifest.space}` |"
    yield f"| fitted on | {manifest.encoder.name}, identity `{manifest.encoder.identity}` |"
    yield f"| temperature | {manifest.temperature:.3g} |"
    yield f"| size | {size / 1e3:.1f} kB |"
    yield f"| licence | {manifest.licence} |\n"
    if manifest.quality:
        yield from quality_lines(manifest.quality)
    if manifest.limits:
        yield from limit_lines(manifest.limits)
    if manifest.data:
        yield "## Training data\n"
        yield "| source | sentences | licence | attribution |\n|---|---|---|---|"
        for source in manifest.data:
            yield (
                f"| {source.name} | {source.sentence_pairs:,} | {source.licence} "
                f"| {source.attribution} |"
            )
