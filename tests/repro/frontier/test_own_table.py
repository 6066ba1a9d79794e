"""A CSV of the user's own: what is read, what is refused and where, and the comparison."""

import numpy as np
import pandas as pd
import pytest

from skem.repro.frontier import own_table

METHODS = {
    "skem": {"model": "skem.SKEMClassifier"},
    "lda": {"model": "lda"},
    "broken": {"model": "qda", "params": {"reg_param": -1.0}},
}
NAMES = {"skem": "SKEM", "lda": "LDA", "broken": "a broken one"}
SETUP = {"n_folds": 2, "max_rows": 1000}


def read(folder, text, **more):
    path = folder / "mine.csv"
    path.write_bytes(text.encode(more.pop("encoding", "utf-8")))
    return own_table.read(path, **more)


@pytest.mark.parametrize(
    "text",
    [
        'x,"z, in cm, at noon",kind\n1,2,big one\n-.5,1e3,small\n1,2,big one\n-.5,1e3,small\n',
        '\ufeff"x"; "z, in cm, at noon"; "kind"\r\n1,0;2;big one\r\n\r\n-0,5;1e3;small\r\n1;2;big one\r\n-,5;1e3; small \r\n',
        "x\tz, in cm, at noon\tkind\n1\t2\tbig one\n-.5\t1e3\tsmall\n1\t2\tbig one\n-.5\t1e3\tsmall",
    ],
)
def test_commas_semicolons_and_tabs_with_quotes_blanks_and_decimal_commas(text, tmp_path):
    X, y = read(tmp_path, text)
    assert list(X) == ["x", "z, in cm, at noon"]
    np.testing.assert_array_equal(X, [[1, 2], [-0.5, 1000]] * 2)
    assert list(y) == ["big one", "small"] * 2


def test_missing_values_and_a_label_by_name(tmp_path):
    X, y = read(tmp_path, "y,a,b\nu,1,\nv,NA,2\nu,?,3\nv,NaN,4\n", label="y")
    assert np.isnan(X["a"]).tolist() == [False, True, True, True]
    assert X["b"].tolist()[1:] == [2, 3, 4]
    assert list(y) == ["u", "v", "u", "v"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('a,y\n1,u\n"x\ny",v\n', r"mine\.csv, line 4, column 'a': 'x\\ny' is no finite number"),
        ("a,y\n1,u\n\nred,v\nblue,v\n", r"line 4, column 'a': 'red' .*the first of 2 .*encode the column"),
        ('a,y\n1,u\n"1,5",v\n', "line 3, column 'a': '1,5' .*decimal point"),
        ("a,y\n1,u\ninf,v\n", "line 3, column 'a': 'inf'"),
        ("a,b,y\n1,2,u\n1,v\n", "line 3: 2 cells, the line of names has 3"),
        ("a,b,y\n1,5,2,u\n", "line 2: 4 cells, .* has 3; decimal commas need semicolons"),
        ("a,y\n1,u\n2,\n3,NA\n", "line 3, column 'y': no class label; remove the 2 samples"),
        ("a,a,y\n1,2,u\n", "line 1: two columns are called 'a'"),
        ("1,2,3\n4,5,6\n", "line 1: 1, 2, 3 are no column names"),
        ('a,y\n1,"u\n', r"line \d: unexpected end of data"),
        ("a,y\n", "1 lines; a line of column names and samples"),
        ("", "0 lines"),
        ("y\nu\nv\n", "1 column; features"),
        ("a,y\n1,u\n2,u\n3,v\n", r"column 'y': 2 classes, 'v' has 1 samples; .*--config label=NAME"),
    ],
)
def test_what_is_refused_names_the_line_and_the_column(text, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        read(tmp_path, text, n_folds=2 if "--config" in message else 1)


def test_a_column_that_is_not_there_and_another_encoding(tmp_path):
    with pytest.raises(ValueError, match="no column is called 'z'; the columns are a, y"):
        read(tmp_path, "a,y\n1,u\n", label="z")
    with pytest.raises(ValueError, match="not a text in UTF-8"):
        read(tmp_path, "größe,y\n1,u\n", encoding="latin-1")


@pytest.fixture(scope="module")
def compared():
    rng = np.random.default_rng(0)
    y = pd.Series(np.repeat(["a class", "b"], 40), index=np.arange(2, 82))
    X = pd.DataFrame(rng.normal(size=(80, 2)) + 2 * (y == "b").to_numpy()[:, None], columns=["x", "z"])
    X.iloc[3, 0] = np.nan
    return X, y, own_table.compare(X.set_axis(y.index), y, METHODS, SETUP, root=1)


def test_each_sample_is_tested_once_by_every_method(compared):
    _, y, table = compared
    for _, own in table[table["error"].isna()].groupby("method"):
        assert own.set_index("line")["label"].sort_index().tolist() == y.tolist()
    assert table["method"].value_counts().to_dict() == {"skem": 80, "lda": 80, "broken": 1}


def test_the_summary_has_intervals_over_test_samples(compared):
    table = own_table.summary(compared[2]).set_index("method")
    own = compared[2].query("method == 'lda'")
    p = (own["label"] == own["predicted"]).mean()
    lda = table.loc["lda"]
    assert lda["accuracy"] == pytest.approx(100 * p)
    assert lda["high"] - lda["accuracy"] == pytest.approx(100 * 1.959964 * np.sqrt(p * (1 - p) / 80))
    half = 1.959964 * own["log_loss"].std(ddof=0) / np.sqrt(80)
    assert lda["log_loss_low"] == pytest.approx(own["log_loss"].mean() - half)


def test_the_table_names_the_protocol_missing_values_and_failures(compared):
    X, y, table = compared
    text = own_table.markdown(own_table.summary(table), NAMES, "mine", own_table.notes(X, y, SETUP))
    assert "Protocol: nested, 2-fold cross-validation" in text
    assert "1 values are missing" in text
    assert "| a broken one | failed" in text
    assert "a broken one failed: InvalidParameterError: The 'reg_param'" in text
