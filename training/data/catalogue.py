"""The sources of parallel text that the project knows, and what their licences allow.

A model that ships may be trained on open licences only, and has to name every source and its
authors. Text of your own needs no entry here: it is recorded as yours.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from service.errors import InputError


@dataclass(frozen=True, slots=True)
class Source:
    """A public source: its licence, whom to name, where it comes from."""

    name: str
    licence: str
    attribution: str
    origin: str
    open: bool = True  # False: research use only, never in a model that ships


SOURCES = (
    Source(
        "tatoeba",
        "CC BY 2.0 FR",
        "the contributors of tatoeba.org; compiled by Jörg Tiedemann, Helsinki-NLP",
        "Tatoeba Translation Challenge test sets, v2020-07-28 to v2021-08-07",
    ),
    Source(
        "tatoeba_anki",
        "CC BY 2.0 FR",
        "manythings.org/anki and the contributors of tatoeba.org",
        "tab-delimited bilingual sentence pairs of manythings.org/anki",
    ),
    Source(
        "small_parallel_enja",
        "public domain / CC BY 2.0 FR",
        "Tanaka corpus (edrdg.org); Yusuke Oda (odashi/small_parallel_enja)",
        "github.com/odashi/small_parallel_enja",
    ),
    Source(
        "ntrex",
        "CC BY-SA 4.0",
        "Federmann, Kocmi, Xin 2022, NTREX-128 (Microsoft)",
        "github.com/MicrosoftTranslator/NTREX, rows 0-999",
    ),
    Source(
        "pud",
        "CC BY-SA 3.0",
        "Google and the Universal Dependencies contributors (CoNLL 2017 shared task)",
        "github.com/UniversalDependencies, the UD_*-PUD treebanks",
    ),
    Source(
        "tico19",
        "CC0 1.0",
        "Anastasopoulos et al. 2020, TICO-19: the translation initiative for COVID-19",
        "tico-19.github.io",
    ),
    Source(
        "mlqe_pe",
        "CC0 1.0",
        "Fomicheva et al. 2020, MLQE-PE",
        "github.com/sheffieldnlp/mlqe-pe",
    ),
    Source(
        "alt_ja_vi",
        "CC BY 4.0",
        "Riza et al. 2016, Asian Language Treebank (NICT)",
        "github.com/ngovinhtn/JaViCorpus",
    ),
    Source(
        "indian_wiki",
        "CC BY-SA 3.0",
        "Post, Callison-Burch, Osborne 2012",
        "github.com/joshua-decoder/indian-parallel-corpora",
    ),
    Source(
        "korean_news",
        "CC BY-SA 3.0",
        "Park, Hong, Cha 2016, Korean-English news and junior high English",
        "github.com/jungyeul/korean-parallel-corpora",
    ),
    Source(
        "bible_nt",
        "public domain",
        "New Testament in translations held to be in the public domain; annotation CC0 "
        "(christos-c/bible-corpus)",
        "github.com/gratis-bible/bible, seven1m/open-bibles, christos-c/bible-corpus",
    ),
    Source(
        "tldr",
        "CC BY 4.0",
        "the tldr-pages team and contributors",
        "github.com/tldr-pages/tldr",
    ),
    Source(
        "python_docs",
        "CC0 1.0 (translations), PSF License 2 (originals)",
        "Python Software Foundation and the Python documentation translation teams",
        "github.com/python/python-docs-*",
    ),
    Source(
        "gnome_help",
        "CC BY-SA 3.0 / CC BY 3.0",
        "the GNOME Documentation Project and translation teams",
        "github.com/GNOME/gnome-user-docs",
    ),
    Source(
        "cldr",
        "Unicode License v3",
        "Unicode, Inc.; the contributors of the Unicode Common Locale Data Repository",
        "npm packages cldr-annotations-full and cldr-localenames-full, version 48.2.0",
    ),
    Source(
        "eltec_en",
        "public domain (texts), CC BY 4.0 (markup)",
        "European Literary Text Collection (ELTeC), COST Action Distant Reading",
        "github.com/COST-ELTeC/ELTeC-eng, beginnings of novels of 1840 to 1920",
    ),
    Source(
        "mlqa_wiki",
        "CC BY-SA 3.0",
        "the contributors of Wikipedia; Lewis et al. 2020, MLQA",
        "github.com/facebookresearch/MLQA, contexts of the development set",
    ),
    Source(
        "topical_chat",
        "CDLA-Sharing 1.0",
        "Gopalakrishnan et al. 2019, Topical-Chat (Amazon)",
        "github.com/alexa/Topical-Chat",
    ),
    Source(
        "schema_dialogue",
        "CC BY-SA 4.0",
        "Rastogi et al. 2020, Schema-Guided Dialogue (Google)",
        "github.com/google-research-datasets/dstc8-schema-guided-dialogue",
    ),
    Source(
        "bcontrast",
        "CC BY-SA 4.0",
        "Farajian et al. 2020, BConTrasT (Unbabel); Byrne et al. 2019, Taskmaster-1 (Google)",
        "github.com/Unbabel/BConTrasT",
    ),
    Source(
        "xpersona",
        "MIT",
        "Lin et al. 2020, XPersona; Zhang et al. 2018, Persona-Chat",
        "github.com/HLTCHKUST/Xpersona",
    ),
    Source(
        "flores_dev",
        "CC BY-SA 4.0",
        "NLLB Team 2022 (Meta AI); Adelani et al. 2023 (SIB-200)",
        "FLORES-200 dev sentences as in SIB-200: leave it out where SIB-200 is reported",
    ),
    Source(
        "sts_ja_ko",
        "CC BY-SA 4.0",
        "Ham et al. 2020, KorSTS (Kakao Brain), after Cer et al. 2017; "
        "Kurihara et al. 2022, JSTS (Yahoo Japan)",
        "github.com/kakaobrain/kor-nlu-datasets and github.com/yahoojapan/JGLUE, training parts",
    ),
    Source(
        "stsb",
        "research use",
        "Cer et al. 2017, STS benchmark; Philip May, stsb-multi-mt",
        "github.com/PhilipMay/stsb-multi-mt: texts keep the terms of their own sources",
        open=False,
    ),
    Source(
        "multi30k",
        "research use",
        "Elliott, Frank, Sima'an, Specia 2016; Elliott et al. 2017; Barrault et al. 2018",
        "github.com/multi30k/dataset",
        open=False,
    ),
    Source(
        "wmt_pairs",
        "research use",
        "WMT (Conference on Machine Translation) 2014-2024",
        "news and general test sets of statmt.org and wmt-conference",
        open=False,
    ),
    Source(
        "wmt_nway",
        "research use",
        "WMT (Conference on Machine Translation) 2008-2011",
        "newstest2008-2011 and newssyscomb2009 of statmt.org",
        open=False,
    ),
    Source(
        "template_sentences",
        "Apache-2.0",
        "the Interlingua project",
        "sentences made from templates, for tests (training.data.templates)",
    ),
)

EDITED = ("bible_nt", "tico19", "python_docs", "gnome_help", "tldr", "ntrex")
"""Open sources that have most languages of Europe in each row."""

EVERYDAY = ("tatoeba", "tatoeba_anki", "ntrex")
"""Short sentences, which two cores can learn from, and news to measure on."""

_BY_NAME = {source.name: source for source in SOURCES}


def find_source(name: str) -> Source:
    """Return what is known of a source; one that nobody knows is the user's own."""
    own = Source(name, "not stated", "text of your own", "your data folder")
    return _BY_NAME.get(name, own)


def refuse_research_only(names: Iterable[str]) -> None:
    """Refuse sources that a model that ships must not be trained on.

    Raises:
        InputError: One of `names` is for research use only.
    """
    closed = [name for name in names if not find_source(name).open]
    if closed:
        raise InputError(
            f"{', '.join(closed)}: for research use only, so no model that ships may use it.",
            field="sources",
            given=", ".join(closed),
            remedy="Leave it out, or train for research: --set research=true.",
        )
