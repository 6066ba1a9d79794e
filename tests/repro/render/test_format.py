"""Numbers and tables in Markdown."""

import pandas as pd
from markdown_it import MarkdownIt

from skem.repro.render.format import document, table


def test_a_cell_is_shown_as_its_text_whatever_it_contains():
    cells = ["a|b", "<img src=x>", "m<d>", "1 < 2", "two\nlines", "pa\\|b"]
    frame = pd.DataFrame({"a|b": cells, "n": [1, 2, 3, 4, 5, 6]})
    for padded in (True, False):
        text = table(frame, padded=padded)
        html = MarkdownIt("commonmark").enable("table").render(text)
        assert html.count("<tr>") == 1 + len(cells)
        for shown in ("a|b", "&lt;img src=x&gt;", "m&lt;d&gt;", "1 &lt; 2", "two lines", "pa|b"):
            assert f'<td style="text-align:left">{shown}</td>' in html
        assert '<td style="text-align:right">6</td>' in html


def test_a_document_leaves_out_what_is_empty():
    none = (some := pd.DataFrame({"a": ["x", None]})).head(0)
    text = document("Title", "", "Note.", some, none, {"Shown": some, "Empty": none})
    assert text == "# Title\n\nNote.\n\n" + f"{table(some)}\n\n**Shown**\n\n{table(some)}\n"
    assert "| -   |" in text
