"""Tables for people."""

from training.tables import format_table


def test_columns_stand_in_line() -> None:
    table = format_table(["name", "n"], [["a", "1"], ["longer", "12"]])
    assert table == "name     n\na        1\nlonger  12"


def test_columns_of_text_stand_to_the_left() -> None:
    table = format_table(["name", "what", "n"], [["a", "b", "1"], ["b", "longer", "12"]], text=(1,))
    assert table == "name  what     n\na     b        1\nb     longer  12"
