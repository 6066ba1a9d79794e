"""Pages of tables from their layouts."""

import pandas as pd
import pytest

from skem.repro.tables.pages import Page, render

NAN = float("nan")
CELLS = pd.DataFrame(
    {
        "data": ["iris", "iris", "rice", "rice"],
        "method": ["a", "b", "a", "a"],
        "k": [8, 4, 8, 4],
        "mean": [90.0, 91.25, NAN, 80.0],
        "sd": [1.0, NAN, NAN, 2.0],
        "note": ["", "", NAN, "few"],
    }
)


def page(**block):
    return render(
        Page(title="Errors", blocks=["{n} runs.", {"of": "cells", **block}]),
        {"cells": CELLS, "names": {"n": 5}},
    )


def test_a_row_per_row():
    text = page(columns={"method": "{method}, K = {k}", "mean": "{mean:.1f} ± {sd:.1f}", "remark": "{note}"})
    assert text.startswith("# Errors\n\n5 runs.\n\n| method")
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines()[6:]]
    assert cells == [
        ["a, K = 8", "90.0 ± 1.0", ""],
        ["b, K = 4", "91.2", ""],
        ["a, K = 8", "-", ""],
        ["a, K = 4", "80.0 ± 2.0", "few"],
    ]


def test_a_table_per_value_with_further_columns_in_order():
    text = page(
        each=["data"],
        heading="**{data}**",
        text="{n} runs on {data}.",
        order=["k"],
        columns={"method": "{method}"},
        across="K = {k}",
        cell="{mean:.0f}",
    )
    assert "**iris**\n\n5 runs on iris.\n\n| method   | K = 4   | K = 8   |" in text
    assert "| b        | 91      | -       |\n| a        | -       | 90      |" in text
    assert "| a        | 80      | -       |" in text


def test_an_unknown_column_is_named():
    with pytest.raises(ValueError, match="config/tables names 'maen'; did you mean mean"):
        page(columns={"mean": "{maen}"})
