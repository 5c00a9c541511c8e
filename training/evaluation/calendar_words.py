"""Names of weekdays and months, in one order in every language (Hermann & Blunsom 2013, 4.3)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

CALENDAR: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        language: tuple(words.split())
        for language, words in {
            "en": "Monday Tuesday Wednesday Thursday Friday Saturday Sunday January February "
            "March April May June July August September October November December",
            "de": "Montag Dienstag Mittwoch Donnerstag Freitag Samstag Sonntag Januar Februar "
            "März April Mai Juni Juli August September Oktober November Dezember",
            "fr": "lundi mardi mercredi jeudi vendredi samedi dimanche janvier février mars avril "
            "mai juin juillet août septembre octobre novembre décembre",
            "es": "lunes martes miércoles jueves viernes sábado domingo enero febrero marzo abril "
            "mayo junio julio agosto septiembre octubre noviembre diciembre",
            "it": "lunedì martedì mercoledì giovedì venerdì sabato domenica gennaio febbraio marzo "
            "aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
        }.items()
    }
)
