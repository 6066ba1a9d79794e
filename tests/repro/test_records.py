"""Snakemake's records of results stay beside the results."""

import json

import pytest

from skem.repro import finished_run, records
from skem.repro.files import write_table


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_table("results/a.csv", [{"a": 1}])
    write_table("results/reference/a.csv", [{"a": 1}])
    return tmp_path


def record(path):
    folder = records.Path(".snakemake/metadata")
    folder.mkdir(parents=True, exist_ok=True)
    where = records._record(folder, path)
    where.write_text("{}")


def unfinished():
    """The results that Snakemake would make again."""
    records.keep_beside()
    records.mark_unrecorded()
    marks = records.Path(".snakemake/incomplete")
    return [path for path in records._files(records.Path("results")) if records._record(marks, path).exists()]


def test_results_without_a_record_are_made_again_and_only_they(project):
    records.keep_beside()
    record("results/a.csv")
    assert unfinished() == []
    write_table("results/b.csv", [{"a": 1}])
    assert unfinished() == ["results/b.csv"]


def test_records_outlive_snakemakes_folder(project, tmp_path_factory):
    (project / ".snakemake").symlink_to(tmp_path_factory.mktemp("scratch"))
    records.keep_beside()
    record("results/a.csv")
    (project / ".snakemake").unlink()
    assert unfinished() == []


def test_records_of_a_copy_that_followed_links(project):
    record("results/a.csv")
    assert unfinished() == []
    assert (project / ".snakemake/metadata").is_symlink()


def test_a_disk_without_links_keeps_records_as_snakemake_does(project, monkeypatch):
    def refuse(*_):
        raise OSError("no links here")

    monkeypatch.setattr(records.Path, "symlink_to", refuse)
    records.keep_beside()
    record("results/a.csv")
    assert unfinished() == []


def test_seconds_of_a_job_count_once_for_all_its_files(tmp_path):
    job = {"rule": "train", "log": [], "params": ["a"], "input": ["x"], "starttime": 1.0, "endtime": 4.0}
    other = job | {"params": ["b"], "endtime": 2.0}
    table = job | {"rule": "table", "endtime": 1.5}
    never_ended = {"rule": "train"}
    for i, record in enumerate([job, job, other, table, never_ended]):
        (tmp_path / f"{i}").write_text(json.dumps(record))
    assert finished_run.job_seconds(tmp_path) == {"train": 4.0, "table": 0.5}
