"""What is done with token ids where a text is due.

OpenAI's shape allows them, and LangChain sends them by default: made with OpenAI's vocabulary,
whatever the model. To another model they mean other words, so taking them silently would give
vectors of nonsense. They are refused, unless the operator says whose they are.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

from service.errors import InputError, SettingsError
from service.inference.encoder import Encoder
from service.settings import TokenInput

if TYPE_CHECKING:
    import tiktoken

Decode = Callable[[list[int]], str]
"""Token ids to the text they were made of."""

_ENCODING = "cl100k_base"


def prepare_decoding(setting: TokenInput) -> None:
    """Load what `setting` needs; blocks, where OpenAI's vocabulary is fetched.

    Raises:
        SettingsError: Ids are OpenAI's, and its vocabulary is not to be had.
    """
    if setting == "cl100k_base":
        _cl100k_base()


def decoder_for(setting: TokenInput, encoder: Encoder) -> Decode | None:
    """Return what turns token ids back into text; None where they are refused.

    Args:
        setting: Whose ids they are; `prepare_decoding` was called with it.
        encoder: Whose they are where they are `native`.
    """
    if setting == "native":
        return native_decoder(encoder)
    return _decode_openai if setting == "cl100k_base" else None


def native_decoder(encoder: Encoder, *, special: bool = False) -> Decode:
    """Return what turns ids of `encoder`'s own vocabulary back into text.

    Args:
        encoder: Whose they are.
        special: Whether special tokens are shown too.
    """
    tower = next(iter(encoder.towers.values()))
    size = tower.tokenizer.vocabulary_size

    def decode(ids: list[int]) -> str:
        if any(not 0 <= id < size for id in ids):
            raise InputError(
                f"Token ids of {encoder.name} lie in 0 to {size - 1}.",
                given=ids,
                remedy="Send the text itself.",
            )
        return tower.tokenizer.text_of(ids, special=special)

    return decode


def _decode_openai(ids: list[int]) -> str:
    encoding = _cl100k_base()
    try:
        return encoding.decode(ids)
    except (KeyError, OverflowError):
        raise InputError(
            f"These are no token ids of {_ENCODING}.", given=ids, remedy="Send the text itself."
        ) from None


@cache
def _cl100k_base() -> tiktoken.Encoding:
    try:
        import tiktoken
    except ImportError:
        raise SettingsError(
            "Reading OpenAI's token ids needs the package tiktoken.",
            field="token_input",
            given=_ENCODING,
            remedy="pip install 'interlingua[tiktoken]'",
        ) from None
    try:
        return tiktoken.get_encoding(_ENCODING)
    except Exception as error:  # requests' exceptions, and those of a broken file
        raise SettingsError(
            f"tiktoken cannot load {_ENCODING}: {error}.",
            field="token_input",
            given=_ENCODING,
            remedy="It fetches its vocabulary once; TIKTOKEN_CACHE_DIR names a folder that has it.",
        ) from error
