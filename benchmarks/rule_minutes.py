"""Minutes of the jobs of each rule, as results/reference/rule_minutes.csv has them: python benchmarks/rule_minutes.py, in the folder of a run.

Snakemake keeps the start and the end of each job in the records of the files that it made, below `.snakemake/metadata`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pandas as pd

TARGETS = ("titsias", "hayashi_images", "hayashi", "sanderson", "comparison", "regress")


def target(rule: str) -> str:
    """Target that the rule belongs to: those of Pulford (2022), and those that several papers share, have names of their own."""
    return next((name for name in TARGETS if rule.startswith(name)), "all")


def minutes(folder: Path) -> pd.DataFrame:
    """Number of jobs and their minutes by target and rule; a job with several files has several records."""
    records = [json.loads(path.read_text(encoding="utf-8")) for path in folder.rglob("*") if path.is_file()]
    if not records:
        raise SystemExit(f"{folder} has no records: run it where a run has finished")
    jobs = pd.DataFrame(records)[["rule", "starttime", "endtime"]].drop_duplicates(["rule", "endtime"])
    jobs["target"] = jobs["rule"].map(target)
    jobs["minutes"] = (jobs["endtime"] - jobs["starttime"]) / 60
    rules = jobs.groupby(["target", "rule"])["minutes"].agg(jobs="count", minutes="sum").reset_index()
    return rules.sort_values(["target", "minutes"], ascending=[True, False])


if __name__ == "__main__":
    minutes(Path(".snakemake/metadata")).to_csv(sys.stdout, index=False, float_format="%.2f")
