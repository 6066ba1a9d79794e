"""Files of a user's own: what is read, what is refused and where, and entries that name a file."""

import numpy as np
import pytest

from skem import datasets


def read(folder, text, label=None, *, name="mine.csv", encoding="utf-8"):
    path = folder / name
    path.write_bytes(text.encode(encoding))
    return datasets.read_table(path, label)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("mine.csv", 'x,"z, in cm, at noon",kind\n1,2,big one\n-.5,1e3,small\n1,2,big one\n-.5,1e3,small\n'),
        (
            "mine.csv",
            '\ufeff"x"; "z, in cm, at noon"; "kind"\r\n1,0;2;big one\r\n\r\n-0,5;1e3;small\r\n1;2;big one\r\n-,5;1e3; small \r\n',
        ),
        (
            "mine.csv",
            'sep=;\n"x\n";"z, in cm, at noon";kind\n1;2;big one\n-.5;1e3;small\n1;2;big one\n-.5;1e3;small\n',
        ),
        (
            "mine.csv",
            "x\tz, in cm, at noon\tkind\n1\t2\tbig one\n-.5\t1e3\tsmall\n1\t2\tbig one\n-.5\t1e3\tsmall",
        ),
        (
            "mine.arff",
            "% made\n@RELATION it\n@attribute x numeric\n@attribute 'z, in cm, at noon' REAL\n@attribute kind {'big one', small}\n"
            "@DATA\n1,2,'big one'\n% more\n-.5, 1e3, small\n1,2,'big one'\n-.5,1e3,small\n",
        ),
    ],
)
def test_csv_with_any_separator_and_arff(name, text, tmp_path):
    table = read(tmp_path, text, name=name)
    assert table.feature_names == ("x", "z, in cm, at noon")
    np.testing.assert_array_equal(table.X, [[1, 2], [-0.5, 1000]] * 2)
    assert table.y.tolist() == ["big one", "small"] * 2


def test_missing_values_and_a_label_by_name(tmp_path):
    table = read(tmp_path, "y,a,b\nu,1,\nv,NA,2\nu,?,3\nv,NaN,4\n", label="y")
    np.testing.assert_array_equal(table.X, [[1, np.nan], [np.nan, 2], [np.nan, 3], [np.nan, 4]])
    assert (table.y.tolist(), table.lines.tolist()) == (["u", "v", "u", "v"], [2, 3, 4, 5])


@pytest.mark.parametrize("text", ["a,b,y,\n1,2,u,\n3,4,v,\n", "a,b,y\n1,2,u,\n3,4,v,\n"])
def test_a_separator_may_end_each_line(text, tmp_path):
    table = read(tmp_path, text)
    assert (table.label, table.y.tolist(), table.X.tolist()) == ("y", ["u", "v"], [[1, 2], [3, 4]])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('a,y\n1,u\n"x\ny",v\n', r"mine\.csv, line 4, column 'a': 'x\\ny' is no finite number"),
        ("a,y\n1,u\n\nred,v\nblue,v\n", r"line 4, column 'a': 'red' .*the first of 2 .*encode the column"),
        ('a,y\n1,u\n"1,5",v\n', "line 3, column 'a': '1,5' .*decimal point"),
        ("a,y\n1,u\ninf,v\n", "line 3, column 'a': 'inf'"),
        ("a,b,y\n1,2,u\n1,v\n", "line 3: 2 cells, but 3 columns have names"),
        ("a,b,y\n1,5,2,u\n", "line 2: 4 cells, but 3 .* decimal commas need semicolons"),
        ("size (cm; out),b,y\n1,2,u\n1,x,v\n", "line 3, column 'b': 'x'"),
        ("a;y\n1.010;u\n1,5;v\n", r"line 2, column 'a': '1\.010' may be a thousand or a fraction"),
        ("# made\na,b\n1,2\n", "line 2: 2 cells, but 1 columns have names; the first line"),
        ("a,y\n1,none\n2,NA\n", "line 3, column 'y': 'NA' is read as a missing label; remove the 1 samples"),
        ("a,y\n1,u\n2,\n3,NA\n", "line 3, column 'y': no class label; remove the 2 samples"),
        ("a,a,y\n1,2,u\n", "line 1: two columns are called 'a'"),
        ("1,2,3\n4,5,6\n", "line 1: 1, 2, 3 are no column names"),
        ("5.1,3.5,setosa\n4.9,3.0,setosa\n", "line 1: 5.1, 3.5, setosa are no column names"),
        ("148,72,yes\n85,66,no\n", "line 1: 148, 72, yes are no column names"),
        ("a,b,y\nred,1,u\n2,blue,v\n", r"(?s)line 2, column 'a': 'red'.*line 3, column 'b': 'blue'"),
        ('a,y\n1,"u\n', r"line \d: unexpected end of data"),
        ("a,y\n", "no samples; a line of column names and samples"),
        ("", "no samples"),
        ("y\nu\nv\n", "1 column; features"),
    ],
)
def test_a_refusal_names_the_line_and_the_column(text, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        read(tmp_path, text)


def test_other_refusals(tmp_path):
    with pytest.raises(ValueError, match="no column is called 'z'; the columns are a, y"):
        read(tmp_path, "a,y\n1,u\n", label="z")
    with pytest.raises(ValueError, match="not a text in UTF-8"):
        read(tmp_path, "größe,y\n1,u\n", encoding="latin-1")
    with pytest.raises(ValueError, match="no line @data"):
        read(tmp_path, "a,y\n1,u\n", name="mine.arff")
    with pytest.raises(ValueError, match="line 5, column 'a': 'red'"):
        read(tmp_path, "@attribute a real\n@attribute y {u}\n@data\n1,u\nred,u\n", name="mine.arff")
    with pytest.raises(ValueError, match="sparse format"):
        read(tmp_path, "@attribute a real\n@attribute y {u}\n@data\n{0 1, 1 u}\n", name="mine.arff")


def test_npz(tmp_path):
    path = tmp_path / "mine.npz"
    np.savez(path, X=np.arange(6).reshape(3, 2), y=np.array([0.0, 1.0, 0.0]))
    table = datasets.read_table(path)
    assert (table.X.dtype, table.y.tolist()) == (np.float64, ["0", "1", "0"])
    for arrays, message in (
        ({"X": np.eye(2)}, "no array is called y; there are X"),
        ({"X": np.eye(2), "y": [1]}, "one row of numbers and one label per sample"),
        ({"X": np.eye(2), "y": [1, np.nan]}, "1 samples without a label"),
        ({"X": np.array([[1.0], [np.inf]]), "y": [1, 2]}, "finite numbers"),
    ):
        np.savez(path, **arrays)
        with pytest.raises(ValueError, match=message):
            datasets.read_table(path)


def test_an_entry_that_names_a_file_is_a_data_set(registry):
    registry.write_text("flowers: {file: flowers.csv}\n")
    path = registry.with_name("flowers.csv")
    path.write_text("a,b,kind\n1,2,rose\n3,4,aster\n5,,rose\n")
    assert "flowers" in datasets.names()
    assert datasets.describe("flowers")["n_classes"] == 2
    data = datasets.load("flowers")
    np.testing.assert_array_equal(data.data, [[1, 2], [3, 4], [5, np.nan]])
    assert (data.target.tolist(), data.target_names) == ([1, 0, 1], ("aster", "rose"))
    assert data.record["source"] == "flowers.csv"
    path.write_text("a,b,kind\n1,2,rose\n3,4,aster\n")
    assert datasets.load("flowers").data.shape == datasets.shape("flowers") == (2, 2)


def test_data_sets_of_scikit_learn_are_registered():
    assert datasets.load("iris").data.shape == (150, 4)
