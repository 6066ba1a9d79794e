"""Files and arguments that cannot be read, or that YAML changes silently, are refused with file, line and key."""

import pytest

from skem.repro.config import documents
from skem.repro.config.documents import ConfigurationError


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("seed: 010\n", "line 1: seed is '010', which YAML takes for another number"),
        ("seed: 1:30\n", "seed is '1:30', which YAML takes for another number"),
        ("x: [0.5, 1_0]\n", "x.1 is '1_0', which YAML takes for another number"),
        ("a: {b: -0x10}\n", "a.b is '-0x10', which YAML takes for another number"),
        ("seed: 1\nbase: 2022-01-05\n", "line 2: base is '2022-01-05', which YAML takes for a date"),
        ("label: no\n", "label is 'no', which YAML takes for true or false; put it in quotes"),
        ("a: 1\nb: 2\na: 3\n", "line 3: key 'a' occurs twice, first in line 1"),
        ("runs: {1: 2}\n", "key 'runs.1' is no text"),
        ("runs: !!set {rice}\n", "runs has the tag set"),
        ("seed: [1, 2\nruns: 3\n", "line 2: cannot be read"),
        (b"title: Gr\xfc\xdfe\n", "not a text in UTF-8"),
        ("", "is empty; a mapping"),
        ("- a\n", "is a list; a mapping"),
    ],
)
def test_refused_files(content, words, tmp_path):
    path = tmp_path / "overlay.yaml"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(ConfigurationError) as caught:
        documents.read_mapping(path)
    assert str(caught.value).startswith(str(path))
    assert words in str(caught.value)


def test_unambiguous_values_are_read_as_written(tmp_path):
    path = tmp_path / "overlay.yaml"
    path.write_text("{a: &a {x: -1, y: .5}, b: {<<: *a, x: 1.0e-6}, c: [true, null, 'no', +3]}")
    found = {"a": {"x": -1, "y": 0.5}, "b": {"x": 1e-6, "y": 0.5}, "c": [True, None, "no", 3]}
    assert documents.read(path) == documents.read(path) == found


def test_overlays_are_merged_key_by_key():
    base = {"seed": 1, "datasets": {"rice": {"runs": 5, "presets": ["lda"]}}}
    overlay = {"datasets": {"rice": {"runs": 2, "presets": []}, "wine": {"runs": 1}}}
    both = {"seed": 1, "datasets": {"rice": {"runs": 2, "presets": []}, "wine": {"runs": 1}}}
    assert documents.merged(base, overlay) == both
    assert base["datasets"]["rice"]["runs"] == 5


def test_arguments_that_would_end_in_a_traceback_of_snakemake(tmp_path):
    good = tmp_path / "good.yaml"
    good.write_text("seed: 1\n")
    documents.refuse_unreadable(
        ["-n", "--configfile", str(good), "--config", "seed=1", "base=", "--cores", "1"]
    )
    with pytest.raises(SystemExit) as caught:
        documents.refuse_unreadable(["--configfile", "no.yaml", "sanderson", "--config", "x", "1x=2"])
    lines = str(caught.value).split("\n")
    for line, words in zip(
        lines,
        [
            "error: no.yaml: there is no such file",
            "sanderson: there is no such file; a target goes first, as in snakemake sanderson --cores 2",
            "--config: 'x' is no name=value; a target goes first, as in snakemake x",
            "--config: '1x' is no name; write name=value",
        ],
        strict=True,
    ):
        assert words in line
