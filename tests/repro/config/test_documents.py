"""Reading: what is no YAML, or is YAML that nobody means, is refused with its file and line."""

import os

import pytest
from configurations import unclear

from skem.repro.config import documents
from skem.repro.config.documents import ConfigurationError

# Each list has the one before it ten times, or once.
LAUGHS = "l0: &l0 [ha, ha, ha, ha, ha, ha, ha, ha, ha, ha]\n" + "".join(
    f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 10)}]\n" for n in range(1, 10)
)
LADDER = "l0: &l0 [ha]\n" + "".join(f"l{n}: &l{n} [*l{n - 1}]\n" for n in range(1, 2000))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"seed: [1, 2\nruns: 3\n", "line 2: not valid YAML"),
        (b"title: Gr\xfc\xdfe\n", "UTF-8"),
        (b"a:\tb: c\n", "line 1"),
    ],
)
def test_what_cannot_be_read(content, words, tmp_path):
    path = tmp_path / "bad.yaml"
    path.write_bytes(content)
    with pytest.raises(ConfigurationError) as caught:
        documents.read(path)
    assert not unclear(str(caught.value), str(path), words)
    with pytest.raises(ConfigurationError, match="there is no such file"):
        documents.read(tmp_path / "nowhere.yaml")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (
            "runs: {rice: 1}\nseed: 2\nruns: {rice: 2}\n",
            ["line 3", "key 'runs' stands there twice", "line 1"],
        ),
        ("runs: {1: 2}\n", ["line 1", "key 'runs.1' is no text"]),
        ("runs: {null: 2}\n", ["key 'runs.null' is no text"]),
        ("runs:\n  ? [a, b]\n  : 2\n", ["is no text"]),
        ("runs: &all\n  rice: *all\n", ["runs.rice contains itself"]),
        (f"runs: {{rice: {'9' * 1000}}}\n", ["runs.rice is a number of 1000 digits"]),
        (f"runs: {{rice: {'9' * 5000}}}\n", ["runs.rice is a number of 5000 digits"]),
        ("[" * 3000 + "]" * 3000, ["line 1", "nested too deeply", "100 levels"]),
        ("[" * 1_000_000, ["line 1", "nested too deeply"]),
        (LAUGHS, ["line 5", "its aliases make more than 100000 values"]),
        (LADDER, ["line 100", "its aliases", "100 levels"]),
        ("runs:\n  rice: !!bool x\n", ["line 2", "runs.rice is 'x', which is no !!bool"]),
        ('seed: !!int ""\n', ["line 1", "seed is '', which is no !!int"]),
        ("base: 2022-13-45\n", ["line 1", "base is '2022-13-45'", "a date", "quotes"]),
        ("base: 2022-01-05\n", ["line 1", "base is '2022-01-05'", "a date", "quotes"]),
        ("seed: 010\n", ["line 1", "seed is '010', which YAML takes for 8", "quotes"]),
        ("seed: 1:30\n", ["seed is '1:30', which YAML takes for 90"]),
        ("seed: 1_0\n", ["seed is '1_0', which YAML takes for 10"]),
        ("seed: -0x10\n", ["seed is '-0x10', which YAML takes for -16"]),
        ("x: [0.5, -1, 1_0.5]\n", ["x.2 is '1_0.5', which YAML takes for 10.5"]),
        ("seed: 1\nruns: !!set {rice}\n", ["line 2", "runs has the tag !!set"]),
        ("runs: !counts [1]\n", ["runs has the tag !counts"]),
        ("#" * 1_000_001, ["has 1000001 bytes", "at most 1000000"]),
    ],
)
def test_what_yaml_takes_and_nobody_means_is_refused(content, words, tmp_path):
    path = tmp_path / "overlay.yaml"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(ConfigurationError) as caught:
        documents.read(path)
    assert not unclear(str(caught.value), str(path), *words)
    assert len(str(caught.value)) < 400


def test_a_pipe_is_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ConfigurationError, match=r"pipe: is a pipe or a device.*; write it to a file"):
        documents.read(tmp_path / "pipe")
    with pytest.raises(ConfigurationError, match="Is a directory"):
        documents.read(tmp_path)
