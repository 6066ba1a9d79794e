"""Show which changed constants the regression test notices: python tests/gate_mutations.py [first] [last]

Each mutation changes one constant in a clone of the last commit. Accuracies are then measured as `snakemake regress` does and
compared, to the bit, with those of the clone before: first the small fits that the constant belongs to, and where these do not
fail, the experiments of config/experiments/regress.yaml. Writes results/reference/gate_mutations.md; some minutes on two cores.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from skem.repro.gate import comparison, verdicts

ROOT = Path(__file__).resolve().parent.parent
LARGE = [f"results/regress/accuracy/{name}.json" for name in ("ionosphere", "rice", "mnist_half")]
SMALL = """
import json, sys
from skem.engine import threads
from skem.repro.gate import estimators

threads.limit_process(1)
print(json.dumps(estimators.measure(sys.argv[1])))
"""
# Small fits by the beginning of their names, file below skem, its text, the replacement.
MUTATIONS = [
    (
        "mixture/path",
        "engine/kernels.py",
        "40320, 5040, 720, 120, 24, 6,",
        "40320, 5040, 720, 120, 24.00001, 6,",
    ),
    ("mixture/path", "engine/kernels.py", "in (5040, 720, 120, 24, 6,", "in (5040, 720, 120, 24.001, 6,"),
    ("mixture", "engine/problem.py", "ACTIVE_ROWS = 1e-40", "ACTIVE_ROWS = 1e-2"),
    ("mixture", "engine/parameters.py", "SAFE64 = 1e-4 * 2.0**24", "SAFE64 = 1e-8 * 2.0**24"),
    ("mixture", "engine/parameters.py", "2.0**24, 1e-8 * 2.0**53", "2.0**24, 1e-16 * 2.0**53"),
    ("mixture", "engine/rows.py", "CHUNK_ROWS = 3072", "CHUNK_ROWS = 1024"),
    ("skem", "engine/clusters.py", "VARIANCE_FLOOR = 1e-6", "VARIANCE_FLOOR = 1e-1"),
    ("mixture", "engine/clusters.py", "VARIANCE_FLOOR = 1e-6", "VARIANCE_FLOOR = 1e-1"),
    ("missing", "engine/missing.py", "GROUP_SIZE = 256", "GROUP_SIZE = 128"),
    ("missing", "engine/missing_em.py", "+= 0.5 * problem.ridge", "+= 0.6 * problem.ridge"),
    ("discriminative/ebw", "engine/extended_baum_welch.py", "= 1.0, 2.0, 0.7, 1e6", "= 4.0, 2.0, 0.7, 1e6"),
    ("discriminative/ebw", "engine/extended_baum_welch.py", "= 1.0, 2.0, 0.7, 1e6", "= 1.0, 3.0, 0.7, 1e6"),
    ("discriminative/ebw", "engine/extended_baum_welch.py", "= 1.0, 2.0, 0.7, 1e6", "= 1.0, 2.0, 0.9, 1e6"),
    ("discriminative/ebw", "engine/extended_baum_welch.py", "LEAST_SHARE = 0.1", "LEAST_SHARE = 0.9"),
    ("discriminative/batches", "engine/extended_baum_welch.py", "0.5 * (1.0 + np.cos", "0.6 * (1.0 + np.cos"),
    ("sdgm", "engine/softmax_mixture.py", "ARMIJO = 1e-4", "ARMIJO = 0.49"),
    ("sdgm", "engine/softmax_mixture.py", "SHORTEST_STEP = 1e-10", "SHORTEST_STEP = 0.6"),
    ("sdgm", "engine/softmax_mixture.py", "NEWTON_ITER = 50", "NEWTON_ITER = 1"),
    ("sdgm", "engine/softmax_mixture.py", "DECREMENT = 1e-12", "DECREMENT = 1e-2"),
    ("sdgm", "engine/softmax_mixture.py", "SAME_RESPONSIBILITIES = 1e-4", "SAME_RESPONSIBILITIES = 1e-1"),
    ("sdgm", "engine/softmax_mixture.py", "CONJUGATE_ITER = 10", "CONJUGATE_ITER = 2"),
    ("sdgm", "engine/sparse_bayes.py", "LEAST_SHARE = 1e-8", "LEAST_SHARE = 0.3"),
    (
        "k-means",
        "engine/seeds.py",
        "(np.arange(n_clusters) + 0.5)",
        "(np.arange(n_clusters) + 0.3)",
    ),
    ("discriminative", "estimators/_calibration.py", "PRIOR_STD = 1.0", "PRIOR_STD = 2.0"),
    (
        "discriminative",
        "estimators/_discriminative.py",
        "UNGUARDED_STRENGTH = 0.1",
        "UNGUARDED_STRENGTH = 0.2",
    ),
    (
        "discriminative",
        "estimators/_discriminative.py",
        "STRENGTHS = (0.0, 0.03, 0.3)",
        "STRENGTHS = (0.0, 0.3, 3.0)",
    ),
    ("mixture/batches", "estimators/_mixture_batches.py", "n_batches = 1 + seen", "n_batches = 2 + seen"),
    ("pskem/search", "estimators/pskem_cv.py", "LEAST_GAIN = 1e-3", "LEAST_GAIN = 1.0"),
    ("prbf", "estimators/prbf.py", "SHARINGS = (0.0, 0.25, 0.5, 0.75, 1.0)", "SHARINGS = (0.0, 1.0)"),
    ("prbf", "estimators/prbf.py", "variance_floor: float = 1e-3", "variance_floor: float = 0.2"),
    ("k-means", "estimators/kmeans.py", "tol: float = 1e-4", "tol: float = 1e-1"),
    ("mixture", "estimators/gaussian_mixture.py", "kmeans_iter: int = 10", "kmeans_iter: int = 1"),
    ("sdgm", "estimators/sdgm.py", "max_precision: float = 1e5", "max_precision: float = 1e1"),
    ("images", "images.py", "(1 - t) * pairs[:, :-1] + t", "(1 - t) * pairs[:, :-1] + 0.9 * t"),
]


def run(clone: Path, *command: str) -> subprocess.CompletedProcess:
    environment = os.environ | {"PYTHONPATH": str(clone)}
    return subprocess.run(
        [sys.executable, *command], cwd=clone, env=environment, capture_output=True, text=True
    )


def small(clone: Path, prefix: str) -> comparison.Record | None:
    """Accuracies of some small fits; None if one ends in an error."""
    done = run(clone, "-c", SMALL, prefix)
    return None if done.returncode else json.loads(done.stdout)


def large(clone: Path) -> comparison.Record | None:
    """Accuracies of the experiments; None if a fit ends in an error."""
    for target in LARGE:
        (clone / target).unlink(missing_ok=True)
    if run(clone, "-m", "snakemake", *LARGE, "--cores", "2", "--quiet", "all", "--nolock").returncode:
        return None
    record: comparison.Record = {}
    for target in LARGE:
        record |= json.loads((clone / target).read_text(encoding="utf-8"))
    return record


def verdict(before: comparison.Record, after: comparison.Record | None) -> tuple[str, str]:
    """How the regression test ends ("fails", "passes, and tells", "same"), and the first case that differs."""
    if after is None:
        return "fails", "the fits end in an error"
    table = comparison.compare_accuracy(before, after, same_platform=True)
    different = table[table["verdict"] != "same"]
    if different.empty:
        return "same", ""
    failing = different[different["verdict"].isin(verdicts.FAILING)]
    first = (failing if len(failing) else different).iloc[0]
    found = "fails" if verdicts.failed(table) else "passes, and tells"
    return found, f"{first['case']} {first['quantity']} ({len(different)} of {len(table)} differ)"


def mutated(clone: Path, mutation: tuple[str, ...], before: dict[str, comparison.Record]) -> tuple[str, str]:
    """The verdict on one mutation, and the case; the clone is as before afterwards."""
    prefix, name, old, new = mutation
    path = clone / "skem" / name
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace(old, new), encoding="utf-8")
    try:
        of_prefix = {
            case: fits for case, fits in before["small"].items() if case.startswith(f"digits/{prefix}")
        }
        found = verdict(of_prefix, small(clone, prefix))
        if found[0] != "fails":
            of_experiments = verdict(before["large"], large(clone))
            found = of_experiments if found[0] == "same" or of_experiments[0] == "fails" else found
        return found
    finally:
        path.write_text(text, encoding="utf-8")


def main(first: int = 0, last: int = len(MUTATIONS)) -> None:
    work = Path(tempfile.mkdtemp())
    clone = work / "clone"
    try:
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
        for _, path, old, _ in MUTATIONS:
            places = (clone / "skem" / path).read_text(encoding="utf-8").count(old)
            if places != 1:
                raise SystemExit(f"skem/{path} has {places} places {old!r}: correct the list")
        before = {"small": small(clone, ""), "large": large(clone)}
        if None in before.values():
            raise SystemExit("the fits of the last commit end in an error")
        lines = ["| file | constant | changed to | regression test | first case |", "|---|---|---|---|---|"]
        for mutation in MUTATIONS[first:last]:
            found, case = mutated(clone, mutation, before)
            old, new = mutation[2].strip(), mutation[3].strip()
            lines.append(f"| {mutation[1]} | `{old}` | `{new}` | {found} | {case} |")
            print(lines[-1], flush=True)
        text = "# Constants that the regression test notices\n\n" + "\n".join(lines) + "\n"
        (ROOT / "results" / "reference" / "gate_mutations.md").write_text(text, encoding="utf-8")
    finally:
        shutil.rmtree(work)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
