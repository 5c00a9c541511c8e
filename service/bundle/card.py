"""The model card, generated from the manifest: what is true of a bundle is said once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from service.bundle.manifest import IMPORTED, Manifest, Measurement


def render_card(manifest: Manifest) -> str:
    """Return `CARD.md` for a bundle, in Markdown."""
    return "\n".join(_lines(manifest)).rstrip() + "\n"


def _lines(manifest: Manifest) -> Iterator[str]:
    size = sum(entry.bytes for entry in manifest.files.values())
    yield f"# {manifest.name}\n"
    if manifest.description:
        yield manifest.description + "\n"
    yield "| | |\n|---|---|"
    yield f"| family | {manifest.family} |"
    cuts = _cuts(manifest)
    yield f"| vectors | {manifest.dimension} dimensions{cuts}, space `{manifest.space}` |"
    yield f"| pooling | {manifest.pooling} |"
    yield f"| longest input | {manifest.max_tokens} tokens |"
    yield f"| stored precision | {manifest.precision} |"
    yield f"| size | {size / 1e6:.1f} MB |"
    yield f"| languages | {' '.join(manifest.languages)} |"
    yield f"| licence | {manifest.licence} |\n"
    if manifest.quality:
        yield from quality_lines(manifest.quality)
    if manifest.limits:
        yield from limit_lines(manifest.limits)
    yield "## How it was made\n"
    recipe = manifest.recipe
    if recipe.name == IMPORTED:
        yield "Elsewhere. It was brought here by `interlingua models import`.\n"
        return
    took = f", {recipe.seconds / 60:.0f} minutes" if recipe.seconds else ""
    machine = f" on {recipe.machine}" if recipe.machine else ""
    yield f"`interlingua train {recipe.name} --scale {recipe.scale}`{took}{machine}.\n"
    if start := recipe.parameters.get("start"):
        yield f"It began from the weights that `{start}` had then; the data are those of both.\n"
    if recipe.parameters:
        yield "| parameter | value |\n|---|---|"
        yield from (f"| {name} | {value} |" for name, value in recipe.parameters.items())
        yield ""
    if manifest.data:
        yield "## Training data\n"
        yield "| source | pairs, or sentences without a translation | licence | attribution |"
        yield "|---|---|---|---|"
        for source in manifest.data:
            yield (
                f"| {source.name} | {source.sentence_pairs:,} | {source.licence} "
                f"| {source.attribution} |"
            )


def _cuts(manifest: Manifest) -> str:
    if not manifest.matryoshka_dimensions:
        return ""
    return " (may be cut to " + ", ".join(map(str, manifest.matryoshka_dimensions)) + ")"


def quality_lines(quality: Sequence[Measurement]) -> Iterator[str]:
    """Yield the section of a card that gives the measured figures."""
    yield "## Quality\n"
    yield "| protocol | data | metric | value |\n|---|---|---|---|"
    for row in quality:
        yield f"| {row.protocol} | {row.dataset} | {row.metric} | {row.value:.1f} |"
    yield ""
    for row in quality:
        if row.by_language:
            figures = ", ".join(f"{lang} {value:.1f}" for lang, value in row.by_language.items())
            yield f"- {row.protocol}, {row.metric} by language: {figures}"
        yield f"- {row.protocol}: `{row.command}` ({row.machine})"
    yield ""


def limit_lines(limits: Sequence[str]) -> Iterator[str]:
    """Yield the section of a card that says what the model cannot do."""
    yield "## What it cannot do\n"
    yield from (f"- {limit}" for limit in limits)
    yield ""
