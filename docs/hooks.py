"""What mkdocs does not do by itself: pages from outside docs/, and a navigation that fits.

Model cards, the changelog and the guide for contributors lie where people look for them in a
checkout; here they become pages. Links between pages are written so that they work in a checkout
too, and are turned round here.
"""

from __future__ import annotations

import os
import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parent.parent
OUTSIDE = {"CHANGELOG.md": "CHANGELOG.md", "CONTRIBUTING.md": "CONTRIBUTING.md"}
"""Path in the checkout -> path in the site."""

_LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)\s#:]+)(#[^)]*)?\)")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """List cards and decisions, and leave out pages that this checkout does not have."""
    outside = _outside()
    cards = [site for site in outside.values() if site.startswith("cards/")]
    decisions = [f"decisions/{p.name}" for p in sorted((ROOT / "docs/decisions").glob("*.md"))]
    nav: list[dict[str, list[str]]] = []
    for section in config.nav or []:
        ((title, pages),) = section.items()
        pages = [*pages, *{"Models": cards, "Decisions": decisions}.get(title, [])]
        there = [p for p in pages if (ROOT / "docs" / p).exists() or p in outside.values()]
        if there:
            nav.append({title: there})
    config.nav = nav
    return config


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add the pages from outside."""
    for source, site in _outside().items():
        text = (ROOT / source).read_text(encoding="utf-8")
        files.append(File.generated(config, site, content=text))
    return files


def on_page_markdown(markdown: str, *, page: Page, files: Files, **_: Any) -> str:  # noqa: ANN401
    """Point links at the site's pages; what is only in the checkout becomes its path."""
    outside = _outside()
    sites = {site: source for source, site in outside.items()}
    here = page.file.src_uri
    folder = posixpath.dirname(sites.get(here, posixpath.join("docs", here)))

    def turned(link: re.Match[str]) -> str:
        text, target, anchor = link[1], link[2], link[3] or ""
        source = posixpath.normpath(posixpath.join(folder, target))
        site = outside.get(source, source.removeprefix("docs/") if source[:5] == "docs/" else None)
        if site is not None and files.get_file_from_path(site) is not None:
            return f"[{text}]({os.path.relpath(site, posixpath.dirname(here) or '.')}{anchor})"
        if (ROOT / source).exists():
            return text if text.strip("`") == source else f"{text} (`{source}`)"
        return link[0]

    return _LINK.sub(turned, markdown)


def _outside() -> dict[str, str]:
    there = {source: site for source, site in OUTSIDE.items() if (ROOT / source).exists()}
    cards = sorted((ROOT / "models").glob("*/CARD.md"))
    return there | {f"models/{c.parent.name}/CARD.md": f"cards/{c.parent.name}.md" for c in cards}
