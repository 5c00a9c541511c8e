"""Lines of text files, plain or gzip; a broken one is named by its file and number."""

from __future__ import annotations

import gzip
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from service.errors import InputError

OnBroken = Literal["skip", "refuse"]
"""What to do about a broken line: leave it out and count it, or stop."""

_SHOWN = 20


@dataclass(frozen=True, slots=True)
class BrokenLine:
    """A line that cannot be used. `line` counts from 1; 0 is the file as a whole."""

    file: Path
    line: int
    reason: str

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else str(self.file)
        return f"{place}: {self.reason}"


class BrokenLines:
    """Takes the broken lines of a run: refuses the first, or counts all and keeps some to show.

    Args:
        policy: `refuse` raises at the first broken line; `skip` counts it.
        may_skip: Whether people chose it, with `--set broken=`, and may choose the other.
    """

    def __init__(self, policy: OnBroken = "refuse", *, may_skip: bool = False) -> None:
        self.policy: OnBroken = policy
        self._may_skip = may_skip
        self.count = 0
        self.examples: list[BrokenLine] = []

    def add(self, file: Path, line: int, reason: str, *, lines: int = 1) -> None:
        """Take note of `lines` unusable lines of `file`, of which `line` is the first.

        Raises:
            InputError: The policy is to refuse.
        """
        broken = BrokenLine(file, line, reason)
        if self.policy == "refuse":
            or_skip = ", or have broken lines skipped: --set broken=skip" if self._may_skip else ""
            raise InputError(f"{broken}.", remedy=f"Mend it{or_skip}.")
        self.count += lines
        if len(self.examples) < _SHOWN:
            self.examples.append(broken)


def read_lines(path: Path, broken: BrokenLines) -> list[str | None]:
    r"""Return the lines of `path` without their ends; None stands for a broken one.

    Broken lines keep their place, since line numbers are what aligns parallel files. Lines end at
    `\n` or `\r\n` only: the other line breaks of Unicode (U+2028, U+0085) occur within sentences.

    Raises:
        InputError: The file cannot be read, is a cut or damaged gzip file, or has a broken line
            that the policy refuses.
    """
    content = _content(path)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return [_decode(path, number, line, broken) for number, line in _numbered(content)]
    if "\0" in text:
        return [_decode(path, number, line, broken) for number, line in _numbered(content)]
    lines: list[str | None] = list(text.split("\n"))
    if lines[-1] == "":
        lines.pop()
    if "\r" in text:
        return [line.removesuffix("\r") if line else line for line in lines]
    return lines


def _content(path: Path) -> bytes:
    try:
        content = path.read_bytes()
        return gzip.decompress(content) if path.suffix == ".gz" else content
    except OSError as error:  # BadGzipFile among them
        raise InputError(f"{path} cannot be read: {error}.") from error
    except (EOFError, zlib.error) as error:
        raise InputError(
            f"{path} is a damaged or cut gzip file: {error}.", remedy="Fetch it again."
        ) from error


def _numbered(content: bytes) -> list[tuple[int, bytes]]:
    lines = content.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    if lines[-1] == b"":
        lines.pop()
    return list(enumerate(lines, start=1))


def _decode(path: Path, number: int, line: bytes, broken: BrokenLines) -> str | None:
    try:
        text = line.removesuffix(b"\r").decode("utf-8")
    except UnicodeDecodeError as error:
        broken.add(path, number, f"not UTF-8 at byte {error.start}")
        return None
    if "\0" in text:
        broken.add(path, number, "a NUL character")
        return None
    return text
