"""The scripts of the workflow and the library agree on names."""

import ast
import importlib
import importlib.util

import pytest
from checkouts import ROOT


@pytest.mark.parametrize(
    "script", sorted((ROOT / "workflow").glob("scripts/*.py")), ids=lambda script: script.stem
)
def test_a_script_asks_the_library_for_what_it_has(script):
    """Most scripts run in no test, and nothing else reads them before they do."""
    tree = ast.parse(script.read_text(encoding="utf-8"))
    modules, wanted = {}, set()
    for node in ast.walk(tree):
        if not isinstance(node, ast.ImportFrom) or (node.module or "").split(".")[0] != "skem":
            continue
        package = importlib.import_module(node.module)
        for alias in node.names:
            name = f"{node.module}.{alias.name}"
            if hasattr(package, "__path__") and importlib.util.find_spec(name):
                try:
                    modules[alias.asname or alias.name] = importlib.import_module(name)
                except ModuleNotFoundError as error:
                    if error.name != "torch":
                        raise
                    pytest.skip("needs PyTorch")
            else:
                wanted.add((package, alias.name))
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in modules:
            wanted.add((modules[node.value.id], node.attr))
    assert wanted
    assert [f"{module.__name__}.{name}" for module, name in wanted if not hasattr(module, name)] == []


def test_a_script_that_computes_records_its_environment():
    texts = {path.stem: path.read_text(encoding="utf-8") for path in (ROOT / "workflow/scripts").glob("*.py")}
    computing = {name for name, text in texts.items() if "limit_process" in text and "drawing" not in text}
    recording = {name for name, text in texts.items() if "environment.record(snakemake.output)" in text}
    assert {"features", "train", "baseline"} <= recording
    assert computing - recording == {
        "regress_accuracy",
        "regress_estimators",
    }  # whose reference names its own
