"""Texts as they come from the world: empty, huge, broken, and in every script."""

from __future__ import annotations

import json
import random

from service.shipped import DEMO_CORPUS

_ONE_MEGABYTE = 1_000_000

NAMED: dict[str, str] = {
    "empty": "",
    "a space": " ",
    "white space": " \t\n\r\u00a0\u2003\u3000\u2028\x85",
    "nul": "\0",
    "nuls within": "cat\0dog\0\0",
    "control": "".join(map(chr, range(32))) + "\x7f\x9f",
    "byte order mark": "\ufeffcat",
    "replacement": "\ufffd" * 10,
    "not characters": "\ufffe\uffff\U0010ffff",
    "private use": "\ue000\U000f0000",
    "zero width": "c\u200ba\u200ct\u200d\u2060\ufeff",
    "only zero width": "\u200b" * 100,
    "soft hyphens": "win\u00addow\u00adsill",
    "right to left": "القطة تنام على حافة النافذة",
    "directions overridden": "\u202ecat\u202c \u2066dog\u2069",
    "both directions": "The word قطة means cat, חתול too.",
    "combining flood": "a" + "\u0301" * 5000,
    "zalgo": "".join(c + "\u0300\u0330\u0489" * 20 for c in "cat"),
    "decomposed": "e\u0301te\u0301 n\u0303",
    "composed": "été ñ",
    "ligatures": "ﬁnd the ﬄuﬀy ﬆar",
    "full width": "Ｔｈｅ　ｃａｔ　２３",
    "mathematical": "𝕋𝕙𝕖 𝓬𝓪𝓽 𝟚",
    "emoji": "😀😃😄",
    "emoji joined": "👨‍👩‍👧‍👦👩🏽‍🚀🏳️‍🌈",
    "flags": "🇩🇪🇫🇷🇯🇵🇺",
    "keycaps": "1️⃣2️⃣#️⃣",
    "emoji flood": "👨‍👩‍👧‍👦" * 2000,
    "mixed scripts": "cat кошка 猫 القطة γάτα แมว 고양이 बिल्ली катé",
    "homoglyphs": "сat саt",
    "thai without spaces": "แมวนอนหลับอยู่บนขอบหน้าต่างที่อบอุ่น",
    "indic clusters": "क्ष्म्य श्री ক্ষ ஸ்ரீ",
    "tibetan": "བཀྲ་ཤིས་བདེ་ལེགས",
    "cuneiform": "𒀀𒁀𒂀",
    "vertical forms": "︱︵猫︶",
    "numbers": "3.14159 1e308 -0 ٣٤ 三",
    "one long word": "a" * 50_000,
    "one character many times": "猫" * 20_000,
    "punctuation": "!?…—«»„“‚‘¿¡" * 50,
    "markup": "<script>alert(1)</script><!-- -->&amp;",
    "sql": "'; DROP TABLE documents; --",
    "template": "{{7*7}} ${jndi:ldap://x} %s %n",
    "json": '{"inputs": ["\\u0000"]}',
    "special tokens": "<s> </s> <unk> [CLS] [SEP] [MASK] ▁ <pad>",
    "newlines": "cat\n" * 1000,
    "megabyte of words": "the cat sleeps " * (_ONE_MEGABYTE // 15),
    "megabyte without space": "x" * _ONE_MEGABYTE,
    "megabyte of chance": "".join(
        chr(c)
        for c in random.Random(0).choices([*range(1, 0xD800), *range(0xE000, 0x30000)], k=300_000)
    ),
}
"""What a client may send over HTTP: any text that UTF-8 can carry."""

BROKEN: dict[str, str] = {
    "lone high surrogate": "cat \ud83d",
    "lone low surrogate": "\ude00 cat",
    "surrogates reversed": "\ude00\ud83d",
    "surrogate flood": "\ud800" * 1000,
}
"""What only a caller in Python can have."""


def demo_by_language() -> dict[str, list[str]]:
    """Return language -> ten sentences of the demo corpus."""
    found: dict[str, list[str]] = {}
    for line in DEMO_CORPUS.read_text("utf-8").splitlines():
        document = json.loads(line)
        of_language = found.setdefault(document["language"], [])
        if len(of_language) < 10:
            of_language.append(document["text"])
    return found
