"""Files and arguments that cannot be read are refused with file, line and key."""

import pytest

from skem.repro.config import documents
from skem.repro.config.documents import ConfigurationError


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("a: 1\nb: {<<: &x {c: 1}, c: 2}\na: 3\n", "line 3: key 'a' occurs twice, first in line 1"),
        ("a:\n- {b: 1,\n   b: 2}\n", "line 3: key 'b' occurs twice, first in line 2"),
        ("{a: 1, a: 2}", "line 1: key 'a' occurs twice"),
        ("{[b]: 3}", "line 1: cannot be read"),
        ("seed: [1, 2\nruns: 3\n", "line 2: cannot be read"),
        (b"title: Gr\xfc\xdfe\n", "not a text in UTF-8"),
        ("", "is empty; a mapping"),
        ("- a\n", "is ['a']; a mapping"),
        ("seed:1\n", "is 'seed:1'; a mapping from keys to values is needed, as in seed: 1 (with a blank)"),
    ],
)
def test_refused_files(content, words, tmp_path):
    path = tmp_path / "overlay.yaml"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(ConfigurationError) as caught:
        documents.read_mapping(path)
    assert str(caught.value).startswith(str(path))
    assert words in str(caught.value)


def test_anchors_may_be_merged_and_overridden(tmp_path):
    path = tmp_path / "overlay.yaml"
    path.write_text("{a: &a {x: -1, y: .5}, b: {<<: *a, x: 1.0e-6}, c: {<<: *a}}")
    assert documents.read(path) == {
        "a": {"x": -1, "y": 0.5},
        "b": {"x": 1e-6, "y": 0.5},
        "c": {"x": -1, "y": 0.5},
    }


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
    wrong = ["--configfile", str(tmp_path / "god.yaml"), "no.yaml", "sanderson"]
    wrong += ["--config", "x", "1x=2", "datasets.rice.runs=2"]
    with pytest.raises(SystemExit) as caught:
        documents.refuse_unreadable(wrong)
    for line, words in zip(
        str(caught.value).split("\n"),
        [
            "god.yaml: there is no such file; did you mean ",
            "no.yaml: there is no such file",
            "sanderson: there is no such file; a target goes first, as in snakemake sanderson --cores 2",
            "--config: 'x' is no name=value, as seed=1 is; a target goes first, as in snakemake x",
            "--config: '1x' is no name; write name=value",
            "--config: 'datasets.rice.runs' is no name; write name=value, as in seed=1, and nested keys to a file",
        ],
        strict=True,
    ):
        assert words in line
    with pytest.raises(
        SystemExit, match="'seed' is no name=value, as seed=1 is; leave out the blanks around ="
    ):
        documents.refuse_unreadable(["--config", "seed", "=", "1"])
