"""Format numbers and tables as Markdown: the one module that every table of the reproduction uses.

Make each row of a table a dictionary of strings with `number`, `interval` and `measured`, make a DataFrame of these rows,
and pass it to `document` (title, notes and tables) or `table` (one table):

>>> number(97.481, 2), number(0.5, "+.1f"), number(float("nan")), number(1e-9, ".1g")
('97.48', '+0.5', '-', '1e-09')
>>> interval(97.48, 97.1, 97.9, 1)
'97.5 [97.1, 97.9]'
>>> rows = [{"method": "a|b", "accuracy, %": number(90.0, 1)}]
>>> print(document("Accuracy", "A note.", {"Test samples": pd.DataFrame(rows)}))
# Accuracy
<BLANKLINE>
A note.
<BLANKLINE>
**Test samples**
<BLANKLINE>
| method   | accuracy, %   |
|:---------|:--------------|
| a\\|b     | 90.0          |
<BLANKLINE>

A missing number is a dash; ``missing`` sets another text. Cells are escaped here, so callers pass them as they are.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from math import floor, log10
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

MISSING = "-"

Block: TypeAlias = str | pd.DataFrame | Mapping[str, pd.DataFrame]


def number(value: Any, digits: int | str = 2, missing: str = MISSING) -> str:
    """Format a number with this many decimals, or by a format specification such as ``"+.2f"`` or ``".3g"``."""
    if value is None or pd.isna(value):
        return missing
    return format(value, f".{digits}f" if isinstance(digits, int) else digits)


def interval(value: Any, low: Any, high: Any, digits: int | str = 2, missing: str = MISSING) -> str:
    """Format a value and its interval in brackets, or the value alone if there is no interval."""
    ends = [number(end, digits, missing="") for end in (low, high)]
    return number(value, digits, missing) + (f" [{', '.join(ends)}]" if all(ends) else "")


def measured(value: float, low: float, high: float, beside: Sequence[float] = (), sign: str = "") -> str:
    """Format a measurement with two digits of its uncertainty, and its interval in brackets if it has one.

    More digits are shown where value or ends would otherwise be rounded onto, or across, a number of ``beside``.

    >>> measured(95.5316, 91.05, 100.013), measured(95.5316, 91.05, 99.96, beside=[100])
    ('95.5 [91.0, 100.0]', '95.53 [91.05, 99.96]')
    """
    if pd.isna(value):
        return ""
    known = not (pd.isna(low) or pd.isna(high)) and high > low
    numbers = [value, low, high] if known else [value]
    size, half = max(map(abs, numbers)), (high - low) / 2
    if known:
        decimals = 1 - floor(log10(half) + 1e-9)
    else:
        decimals = 0 if value == round(value) and size < 1e7 else 3 - floor(log10(size))

    def text(number: float) -> str:
        if number == 0 or 1e-4 <= size < 1e7:
            return f"{number:{sign}.{max(decimals, 0)}f}"
        return f"{number:{sign}.{max(decimals + floor(log10(abs(number))), 1)}e}"

    def kept() -> bool:
        return all(np.sign(float(text(n)) - other) == np.sign(n - other) for n in numbers for other in beside)

    while decimals < 12 and not kept():
        decimals += 1
    return text(value) + (f" [{text(low)}, {text(high)}]" if known else "")


def escape(text: str) -> str:
    """Escape ``|``, which ends a cell, and ``<`` that begins HTML; text that is escaped already stays as it is."""
    text = re.sub(r"\s*\n\s*", " ", text)
    return re.sub(r"(?<!\\)(\||<(?=[A-Za-z/!?]))", r"\\\1", text)


def table(frame: pd.DataFrame, missing: str = MISSING, padded: bool = True) -> str:
    """Render a table in Markdown, numbers aligned to the right; cells are ``padded`` to the width of their column."""
    align = ["right" if is_numeric_dtype(dtype) else "left" for dtype in frame.dtypes]
    shown = frame.map(lambda cell: missing if pd.isna(cell) else escape(str(cell)))
    shown.columns = [escape(str(name)) for name in frame]
    text = shown.to_markdown(index=False, disable_numparse=True, colalign=align)
    if padded:
        return text
    text = re.sub(r" +\|", " |", text)
    return re.sub(r"^\|[-:|]+\|$", lambda rule: re.sub("-+", "---", rule[0]), text, flags=re.MULTILINE)


def document(title: str, *blocks: Block, padded: bool = True) -> str:
    """Render a titled document in Markdown: paragraphs, tables, and tables by caption, without those that are empty."""
    text = [f"# {title}"]
    for block in blocks:
        if isinstance(block, str):
            text.append(block)
        elif isinstance(block, pd.DataFrame):
            text.append(table(block, padded=padded) if len(block) else "")
        else:
            for caption, part in block.items():
                text += [f"**{caption}**", table(part, padded=padded)] if len(part) else []
    return "\n\n".join(filter(None, text)) + "\n"
