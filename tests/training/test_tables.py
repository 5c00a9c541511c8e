"""Tables for people."""

from training.tables import format_table


def test_columns_stand_in_line() -> None:
    table = format_table(["name", "n"], [["a", "1"], ["longer", "12"]])
    assert table == "name     n\na        1\nlonger  12"
