"""The text that systems of several papers are trained on here, as assignments of their recipes."""

from __future__ import annotations

CAPTIONS = (
    "sources=multi30k,wmt_nway",
    "research=true",
    "held_out_source=multi30k",
    "held_out_first=28452",
)
"""Captions, a quarter of news; the last rows of the captions are held out."""

BROAD = ("sources=wmt_nway,wmt_pairs,ntrex,tatoeba", "research=true")
"""News and short sentences; the last rows of NTREX are held out."""
