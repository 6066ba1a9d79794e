"""Pages of tables from their layouts."""

import pandas as pd
import pytest

from skem.repro.tables.pages import Page, render

CELLS = pd.DataFrame(
    {
        "data": ["iris", "iris", "rice", "rice"],
        "method": ["a", "b", "a", "a"],
        "k": [8, 4, 8, 4],
        "mean": [90.0, 91.25, float("nan"), 80.0],
    }
)


def page(**block):
    return render(
        Page(title="Errors", blocks=["{n} runs.", {"of": "cells", **block}]),
        {"cells": CELLS, "names": {"n": 5}},
    )


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
