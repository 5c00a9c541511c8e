"""Amazon reviews in four languages and three categories (Prettenhofer & Stein 2010, CLS-10).

`cls-acl10-unprocessed/<lang>/<category>/<train|test|unlabeled>.review`: XML, `<items>` of `<item>`s
with `rating`, `summary` and `text` among their fields. Languages are en de fr jp.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from xml.etree.ElementTree import Element, ParseError, iterparse

from service.errors import InputError
from training.data.labelled import LabelledText
from training.data.lines import BrokenLines

POSITIVE, NEGATIVE = "positive", "negative"


def read_reviews(path: Path, broken: BrokenLines) -> Iterator[LabelledText]:
    """Yield reviews as summary and text in one, positive above three stars, negative below.

    Chidambaram et al. 2018, section 4.2; reviews of three stars are left out.

    Args:
        path: A `.review` file.
        broken: Takes items without a rating or without any text; the number is the item's.

    Raises:
        InputError: The file cannot be read or is no XML, or a broken item is refused.
    """
    for number, item in enumerate(_items(path), start=1):
        rating = (item.findtext("rating") or "").strip()
        text = " ".join(
            part for name in ("summary", "text") if (part := (item.findtext(name) or "").strip())
        )
        try:
            stars = float(rating)
        except ValueError:
            broken.add(path, number, f"an item whose rating is {rating!r}")
            continue
        if not text:
            broken.add(path, number, "an item without text")
        elif stars != 3:
            yield LabelledText(text, POSITIVE if stars > 3 else NEGATIVE)


def _items(path: Path) -> Iterator[Element]:
    """Yield the items one by one, each dropped once it was used."""
    try:
        with path.open("rb") as file:
            for _, element in iterparse(file):  # noqa: S314 - expat bounds what entities grow to
                if element.tag == "item":
                    yield element
                    element.clear()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error}.") from error
    except ParseError as error:
        raise InputError(f"{path} is no XML: {error}.", remedy="Fetch it again.") from error
