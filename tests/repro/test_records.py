"""Records of what results were made of."""

import pytest

from skem.repro import records
from skem.repro.files import write_table


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_table("results/a.csv", [{"a": 1}])
    write_table("results/reference/a.csv", [{"a": 1}])
    return tmp_path


def record(path):
    where = records._record(records.Path(".snakemake/metadata"), path)
    where.parent.mkdir(parents=True, exist_ok=True)
    where.write_text("{}")


def unfinished():
    """The results that Snakemake would make again."""
    records.mark_unrecorded()
    marks = records.Path(".snakemake/incomplete")
    return [path for path in records._files(records.Path("results")) if records._record(marks, path).exists()]


def test_records_are_in_the_folder_of_results(project):
    records.keep_beside()
    record("results/a.csv")
    assert unfinished() == []
    (project / ".snakemake").rename(project / "gone")
    records.keep_beside()
    assert unfinished() == []


def test_records_follow_where_snakemakes_folder_is_a_link(project, tmp_path_factory):
    (project / ".snakemake").symlink_to(tmp_path_factory.mktemp("scratch"))
    records.keep_beside()
    record("results/a.csv")
    assert unfinished() == []
    assert len(list((project / "results/records/metadata").iterdir())) == 1


def test_records_of_a_copy_that_followed_links(project):
    (project / ".snakemake/metadata").mkdir(parents=True)
    record("results/a.csv")
    records.keep_beside()
    assert (project / ".snakemake/metadata").is_symlink()
    assert unfinished() == []


def test_a_disk_without_links_keeps_records_as_snakemake_does(project, monkeypatch):
    def refuse(*_):
        raise OSError("no links here")

    monkeypatch.setattr(records.Path, "symlink_to", refuse)
    records.keep_beside()
    record("results/a.csv")
    records.keep_beside()
    assert unfinished() == []


def test_a_result_without_a_record_is_unfinished(project):
    records.keep_beside()
    assert unfinished() == ["results/a.csv"]


def test_removed_results_leave_no_record(project):
    records.keep_beside()
    record("results/a.csv")
    (project / "results").rename(project / "gone")
    records.keep_beside()
    assert unfinished() == []
