"""What a rule's hash sees of the library: all that its script imports, and nothing else."""

import ast
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import grimp
import pytest

from skem.repro import code_hash
from skem.repro.code_hash import code_of, needed_by

ROOT = Path(__file__).parents[2]
SCRIPTS = "workflow/scripts"

WITHOUT = {
    "fetch": "prints what there is, and writes nothing",
    "fetch_data": "what it puts into the cache is verified by its content",
    "reference": "copies files, and always runs",
    "regress": "compares, and always runs",
    "regress_plan": "runs again every time",
    "regress_accuracy": "runs again every time",
    "regress_estimators": "runs again every time",
    "regress_times": "runs again every time",
    "regress_times_update": "runs again every time",
    "regress_processes": "runs again every time",
    "regress_update": "runs again every time",
}
"""Rules that need no hash of their code, and why."""

LIST_RULES = f"""
import json, re
from pathlib import Path
from snakemake.api import SnakemakeApi
from snakemake.settings.types import OutputSettings, ResourceSettings
snakefile = Path("Snakefile").absolute()
with SnakemakeApi(OutputSettings()) as api:
    workflow = api.workflow(resource_settings=ResourceSettings(cores=1), snakefile=snakefile)._workflow
    found = {{}}
    for rule in workflow.rules:
        if rule.norun:
            continue
        shell = re.findall(r"{SCRIPTS}/\\w+\\.py", rule.shellcmd or "")
        scripts = [str(Path(rule.basedir, rule.script).resolve().relative_to(Path.cwd()))] if rule.script else shell
        again = "again" in dict(rule.params) and not callable(rule.params.again)
        found[rule.name] = (scripts, rule.params.get("code"), again)
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def rules():
    """By name of a rule that runs something: its script, the hash that it carries, and whether it runs every time."""
    command = [sys.executable, "-c", LIST_RULES]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def scripts(rules):
    """Of the rules with a hash."""
    return sorted({path for name, (paths, _, _) in rules.items() if name not in WITHOUT for path in paths})


def test_every_rule_carries_the_hash_of_the_script_that_it_runs(rules):
    carried = {name: code for name, (_, code, _) in rules.items() if code}
    assert carried == {
        name: code_of(ROOT / path, ROOT) for name, ((path,), _, _) in rules.items() if name not in WITHOUT
    }
    assert set(WITHOUT) <= set(rules)
    repeated = {name for name, reason in WITHOUT.items() if reason == "runs again every time"}
    assert repeated == {name for name, (_, _, again) in rules.items() if again}


# What it covers


def graph():
    """Who imports whom in the library, by other means than those tested, without what is below `skem.datasets`."""
    imports = grimp.build_graph("skem", cache_dir=None)
    for module in [m for m in imports.modules if f"{m}.".startswith("skem.datasets.")]:
        imports.remove_module(module)
    return imports


def imported_by(script, imports):
    """The modules that a script imports, and those that they import."""
    found = set()
    for node in ast.walk(ast.parse(Path(script).read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= names & imports.modules or {node.module} & imports.modules
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names} & imports.modules
    reached = found | {above for module in found for above in imports.find_upstream_modules(module)}
    if "skem.repro.papers" in reached:  # which loads them by name
        rooms = {module for module in imports.modules if module.startswith("skem.repro.papers.")}
        reached |= rooms | {above for module in rooms for above in imports.find_upstream_modules(module)}
    return reached


def file_of(module, root):
    path = root.joinpath(*module.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


@pytest.fixture
def copy(tmp_path):
    for part in ("skem", SCRIPTS):
        shutil.copytree(ROOT / part, tmp_path / part, ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def hashes(scripts, root):
    code_hash._text.cache_clear()  # files are edited
    return {script: code_of(root / script, root) for script in scripts}


def test_a_constant_of_any_module_that_a_script_imports_changes_its_hash_and_no_other(scripts, copy):
    imports = graph()
    wanted = {script: imported_by(ROOT / script, imports) for script in scripts}
    before, changed = hashes(scripts, copy), {script: set() for script in scripts}
    for module in imports.modules:
        path = file_of(module, copy)
        text = path.read_text(encoding="utf-8")
        path.write_text(f"{text}\nANOTHER = 1\n", encoding="utf-8")
        for script, code in hashes(scripts, copy).items():
            if code != before[script]:
                changed[script].add(module)
        path.write_text(text, encoding="utf-8")
    assert changed == wanted
    assert {"skem.engine.em", "skem.estimators.pskem", "skem.repro.training.passes"} <= changed[
        f"{SCRIPTS}/train.py"
    ]
    assert "skem.repro.ledger.verdicts" not in changed[f"{SCRIPTS}/train.py"]


def test_nothing_of_the_data_sets_changes_a_hash(scripts, copy):
    before = hashes(scripts, copy)
    for path in (copy / "skem/datasets").glob("*.py"):
        path.write_text("ANOTHER = 1\n", encoding="utf-8")
    assert hashes(scripts, copy) == before


def test_docstrings_comments_and_line_breaks_do_not_count(scripts, copy):
    before = hashes(scripts, copy)
    for path in [*copy.rglob("*.py")]:
        text = path.read_text(encoding="utf-8")
        edited = re.sub(r'^( *)"""', r'\1"""Another word. ', text, count=1, flags=re.MULTILINE)
        edited = re.sub(r"^import (\w+)$", r"# A comment.\nimport \\\n    \1", edited, flags=re.MULTILINE)
        assert edited != text or not text, path
        path.write_text(edited, encoding="utf-8")
    assert hashes(scripts, copy) == before


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        ("ACTIVE_ROWS = 1e-40", "ACTIVE_ROWS = 1e-41", False),
        ("ACTIVE_ROWS = 1e-40", "# A comment.\nACTIVE_ROWS = (\n    1e-40\n)", True),
    ],
)
def test_a_constant_of_the_engine_counts_and_how_it_is_written_does_not(copy, old, new, same):
    script, path = f"{SCRIPTS}/train.py", copy / "skem/engine/problem.py"
    before, text = hashes([script], copy), path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
    assert (hashes([script], copy) == before) is same


def test_a_script_counts_too(copy):
    """Snakemake does not see the one that a shell command runs."""
    script = f"{SCRIPTS}/peers.py"
    before = hashes([script], copy)
    (copy / script).write_text(
        (copy / script).read_text(encoding="utf-8") + "\nANOTHER = 1\n", encoding="utf-8"
    )
    assert hashes([script], copy) != before


def test_what_is_imported_by_a_computed_name_counts(copy):
    """Which papers there are is seen at run time."""
    script = copy / SCRIPTS / "new.py"
    script.write_text("from skem.repro import papers\n", encoding="utf-8")
    needed = {str(path.relative_to(copy)) for path in needed_by(script, copy)}
    assert {f"skem/repro/papers/{name}/judges.py" for name in ("pulford2022", "titsias2001")} <= needed
    assert "skem/engine/em.py" in needed
