"""The profile for a cluster names the rules that there are."""

import re

import yaml
from checkouts import ROOT

FILES = [ROOT / "Snakefile", *sorted((ROOT / "workflow" / "rules").glob("*.smk"))]
TEXT = "\n".join(path.read_text(encoding="utf-8") for path in FILES)
_, *PARTS = re.split(r"^ *(?:rule|use rule \w+ as) (\w+)(?: with)?:", TEXT, flags=re.MULTILINE)
BLOCKS = dict(zip(PARTS[::2], PARTS[1::2], strict=True))
RULES = set(BLOCKS)
LOCAL = {name for name, block in BLOCKS.items() if "    localrule: True\n" in block}
PROFILE = yaml.safe_load((ROOT / "profiles" / "slurm" / "config.yaml").read_text(encoding="utf-8"))


def test_a_rule_is_local_or_has_memory_and_time():
    """A new rule goes to the cluster, unless it is local, and there the profile says what it takes."""
    sized = set(PROFILE["set-resources"])
    assert {"all", "train", "time_passes"} <= RULES
    assert sorted(sized - RULES) == []
    assert sorted(LOCAL & sized) == []
    assert sorted(RULES - LOCAL - sized) == []


def test_what_is_timed_has_a_node_to_itself():
    timed = {name for name in RULES if name.startswith("time_")} | {"regress_times", "regress_times_update"}
    timed |= {name for name in RULES if name.startswith("peers_")}
    for name in timed:
        assert "--exclusive" in PROFILE["set-resources"][name]["slurm_extra"], name
