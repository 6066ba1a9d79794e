"""Rules ask for what their scripts need."""

import os
import re
import subprocess
import sys
from pathlib import Path

from checkouts import ROOT

FILES = [ROOT / "Snakefile", *sorted((ROOT / "workflow/rules").glob("*.smk"))]
TEXT = "\n".join(path.read_text(encoding="utf-8") for path in FILES)
_, *RULES = re.split(r"^ *(?:use )?rule\b", TEXT, flags=re.MULTILINE)

TRAINING = {"train", "baseline", "comparison_fit", "own_table"}
"""Scripts that look up classifiers by name."""


def test_training_again_follows_the_code_of_classifiers():
    trained = [block for block in RULES if re.search(rf"/({'|'.join(TRAINING)})\.py", block)]
    assert len(trained) == len(TRAINING)
    assert all("classifiers=" in block for block in trained)


def test_snakemakes_linter_finds_only_what_the_page_explains():
    """docs/contribute/snakemake.md has the reasons."""
    command = [Path(sys.executable).with_name("snakemake"), "--lint"]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    titles = set(re.findall(r"^    \* (.*)", done.stdout + done.stderr, flags=re.MULTILINE))
    assert titles == {
        "Specify a conda environment or container for each rule.:",
        "Mixed rules and functions in same snakefile.:",
    }


def test_timed_rules_have_a_node_to_themselves():
    timed = [block for block in RULES if "threads: lambda wildcards: workflow.cores" in block]
    assert any(block.startswith(" time_iterations:") for block in timed)
    assert all("--exclusive" in block for block in timed)
