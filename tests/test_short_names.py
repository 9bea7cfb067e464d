"""Sources in titles: without folders, short, and still told apart."""

from __future__ import annotations

import pytest

from rankinite.drawing import short
from rankinite.short_names import LONGEST, middle_cut, short_source

LONG = "/data/search/" + "web-judgements-" * 4 + "2026.parquet"


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("train.txt", "train.txt"),
        ("/data/2024/train.txt.gz", "train.txt.gz"),
        (r"C:\data\train.txt", "train.txt"),
        ("judged/train.txt", "train.txt"),
        ("/my data/train set.csv", "train set.csv"),
        ("/data/train.bins/", "train.bins"),
        ("/data/web", "web"),
        ("a/x.txt + b/y.txt", "x.txt + y.txt"),
        ("a/x.parquet and 3 more", "x.parquet and 3 more"),
        ("5 folds of /data/train.txt", "5 folds of train.txt"),
        ("clicks on 3 folds of a/b.txt", "clicks on 3 folds of b.txt"),
        ("table", "table"),
        ("synthetic train 0", "synthetic train 0"),
        ("and/or", "and/or"),
        ("</script>", "</script>"),
        ("", ""),
    ],
)
def test_folders_are_left_out(source: str, shown: str) -> None:
    assert short_source(source) == shown


def test_long_names_keep_both_ends() -> None:
    shown = short_source(LONG)
    assert len(shown) == LONGEST
    assert shown.startswith("web-judgements-")
    assert shown.endswith("2026.parquet")


def test_many_files_are_counted() -> None:
    files = " + ".join(f"/data/part-{number}-of-the-judgements.txt" for number in range(4))
    assert short_source(files) == "part-0-of-th…dgements.txt and 3 more"
    assert len(short_source(f"{LONG} and 12 more")) == LONGEST
    assert short_source(f"{LONG} + {LONG} and 12 more").endswith(" and 13 more")


@pytest.mark.parametrize("most", [5, 6, 10])
def test_a_cut_text_is_as_long_as_it_may_be(most: int) -> None:
    assert len(middle_cut("abcdefghijklmnop", most)) == most
    assert middle_cut("abc", most) == "abc"


def test_pictures_show_the_end_of_a_path_and_the_beginning_of_a_name() -> None:
    assert short("models/2026/03/rank-on-clicks-a.txt") == "…03/rank-on-clicks-a.txt"
    assert short("a feature with a very long name") == "a feature with a very l…"
    assert short("a/b.txt") == "a/b.txt"
    assert {len(short("models/" + "x" * 40)), len(short("y" * 40))} == {24}
