"""Show that planted faults fail the regression test, in a clone of the last commit.

python tests/gate_mutations.py [first] [last]  changes one constant after the other and compares the accuracies of small
                                               fits (half an hour): results/reference/gate_mutations.md
python tests/gate_mutations.py times [equal] ["10% slower"] [quiet] [loaded]
                                               times equal code and slower code (some three hours, on a machine without
                                               other work): results/reference/gate_proof.md
"""

import json
import os
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter

import pandas as pd

from skem.repro.gate import comparison, revisions

ROOT = Path(__file__).resolve().parent.parent
DATA_SETS = ("ionosphere", "rice")
ACCURACIES = """
import json, sys
from skem.engine import threads
from skem.repro.config.documents import read_mapping
from skem.repro.gate import cases, estimators
from skem.repro.study import load_study
threads.limit_process(1)
name = sys.argv[1]
if name in ("ionosphere", "rice"):
    study = load_study(read_mapping("config/config.yaml"), ["config/config.yaml"])
    record = cases.measure(name, study.regress_work(name) | {"runs": 3})
else:
    record = estimators.measure(name)
print(json.dumps(record))
"""
TIMES = """
from skem.repro.gate import comparison, timing
print(comparison.compare_times(timing.measure("HEAD")).to_json(orient="records"))
"""
# A data set, or the beginning of the names of small fits; file below skem; code; replacement.
MUTATIONS = [
    # One prediction in 333 has its classes reversed.
    ("skem", "engine/density.py", "return result.T", "result[:, ::333] = result[::-1, ::333].copy(); return result.T"),
    ("rice", "engine/kernels.py", " 5040, 720, 120, 24, 6,", " 5040, 720, 120, 24, 6.1,"),
    ("mixture", "engine/problem.py", "ACTIVE_ROWS = 1e-40", "ACTIVE_ROWS = 1e-2"),
    ("skem", "engine/clusters.py", "VARIANCE_FLOOR = 1e-6", "VARIANCE_FLOOR = 10.0"),
    ("missing", "engine/missing_em.py", "penalties[k, c, None]", "1.2 * penalties[k, c, None]"),
    ("discriminative/ebw", "engine/extended_baum_welch.py", "= 1.0, 2.0, 0.7, 1e6", "= 1.0, 3.0, 0.7, 1e6"),
    ("sdgm", "sdgm/softmax_mixture.py", "SAME_RESPONSIBILITIES = 1e-4", "SAME_RESPONSIBILITIES = 0.1"),
    ("sdgm", "sdgm/softmax_mixture.py", "NEWTON_ITER = 50", "NEWTON_ITER = 1"),
    ("sdgm", "sdgm/sparse_bayes.py", "LEAST_SHARE = 1e-8", "LEAST_SHARE = 0.3"),
    ("discriminative", "estimators/_calibration.py", "PRIOR_STD = 1.0", "PRIOR_STD = 2.0"),
    ("discriminative/auto", "estimators/_discriminative.py", "(0.0, 0.03, 0.3)", "(0.0, 0.3, 3.0)"),
    ("mixture/batches", "estimators/_batches.py", "(1 + n_seen /", "(2 + n_seen /"),
    ("prbf", "estimators/prbf.py", "variance_floor: float = 1e-3", "variance_floor: float = 0.2"),
    ("k-means", "estimators/kmeans.py", "tol: float = 1e-4", "tol: float = 1e-1"),
    ("mixture", "estimators/gaussian_mixture.py", "kmeans_iter: int = 10", "kmeans_iter: int = 1"),
    ("sdgm", "sdgm/classifier.py", "max_precision: float = 1e5", "max_precision: float = 1e1"),
    ("images", "images.py", "(1 - t) * pairs[:, :-1] + t", "(1 - t) * pairs[:, :-1] + 0.9 * t"),
    # Every second weight is 1% too large.
    ("skem", "engine/matrices.py", "            weights[k, c] /= kept\n", "            weights[k, c] *= (1.0 + 0.01 * (k % 2)) / kept\n"),
    # A sample per chunk has no weight.
    ("mixture", "engine/expectation.py", "rows.weights[chunk.rows], read(chunk.rows)\n", "rows.weights[chunk.rows].copy(), read(chunk.rows)\n        weights[0] = 0.0\n"),
    ("missing/skem", "estimators/_base.py", "log_density + like(self._log_prior(), log_density)", "log_density"),
    ("ionosphere", "estimators/_units.py", "reg_covar / self.scale", "1.25 * reg_covar / self.scale"),
    ("skem/sharing", "estimators/_training.py", "workers, model.max_iter, model.tol)", "workers, max(1, model.max_iter - 1), model.tol)"),
    ("rice", "repro/protocols.py", 'kind="stable").drop_duplicates(group)', 'kind="stable").drop_duplicates(group, keep="last")'),
    # Scaled by test samples, a fold used twice, other folds, validation by training samples.
    ("rice", "repro/training/splits.py", ".fit(parts[0], y[train])", ".fit(X, y)"),
    ("ionosphere", "repro/training/splits.py", "in enumerate(folds.split(X, y)):", 'in enumerate([next(iter(folds.split(X, y)))] * spec["n_folds"]):'),
    ("ionosphere", "repro/training/splits.py", 'shuffle=True, random_state=seed),\n    "shuffled"', 'shuffle=True, random_state=seed + 1),\n    "shuffled"'),
    ("ionosphere", "repro/training/splits.py", "inside[kept], inside[held]", "inside, inside[held]"),
    ("ionosphere", "repro/protocols.py", "ascending = [False, True, True, True]", "ascending = [False, False, True, True]"),
    ("mixture", "engine/matrices.py", "- shifts[k, i] * shifts[k, j]\n", "- 0.999 * shifts[k, i] * shifts[k, j]\n"),
    ("mixture", "engine/matrices.py", "square / n_features + ridge", "square / n_features + 1.1 * ridge"),
    ("mixture", "engine/kernels.py", "fma(cast(q, -0.5), q,", "fma(cast(q, -0.5005), q,"),
    ("mixture", "engine/kernels.py", "value = value * load(factors, 0, t)\n", "value = value * load(factors, 0, t) * splat(values.dtype.type(1.0 + 1e-4 * (i % 2)))\n"),
    ("mixture", "engine/parameters.py", "LOG_2PI = 1.8378770664093453", "LOG_2PI = 1.83788"),
    ("skem", "engine/kernels.py", "log_scales[k] + log_weights[k, c] -", "log_scales[k] + 0.999 * log_weights[k, c] -"),
    ("skem/sharing", "engine/kernels.py", "factors[k] = np.exp(penalties[k, p] - penalty)", "factors[k] = 1.0"),
    ("skem/sharing", "engine/expectation.py", "penalties - self._log_sharing", "penalties - 0.9 * self._log_sharing"),
    ("discriminative/batches", "engine/discriminative.py", "targets[own] += 1.0 - self.smoothing", "targets[own] += 1.0"),
    ("mixture/batches", "engine/stepwise.py", "(1 - gamma) * running + gamma *", "(1 - 0.9 * gamma) * running + 0.9 * gamma *"),
    ("discriminative/ebw", "engine/extended_baum_welch.py", "= 1.0, 2.0, 0.7, 1e6", "= 1.0, 2.0, 0.9, 1e6"),
    ("discriminative", "estimators/_calibration.py", "log_joint / temperature", "log_joint / (1.01 * temperature)"),
    ("k-means", "engine/nearest.py", "mean = mean / scale[i] / count", "mean = mean / scale[i] / (count + 0.1)"),
    ("images", "images.py", "Z - Z.mean(axes, keepdims=True)", "Z - 0.9 * Z.mean(axes, keepdims=True)"),
]  # fmt: skip
# Every fit takes longer by a share of its CPU time, whatever part of it the processor is fast at.
SLOWED = (
    "",
    "estimators/_callbacks.py",
    "        yield progress\n        progress.end()\n",
    "        from time import process_time\n\n"
    "        begin = process_time()\n"
    "        yield progress\n"
    "        progress.end()\n"
    "        end = process_time() + {share} * (process_time() - begin)\n"
    "        while process_time() < end:\n"
    "            pass\n",
)
SHARES = (0.1, 0.15, 0.25)


def run(clone: Path, code: str, *arguments: str, mutation: tuple[str, ...] | None = None):
    """Output of the code with a mutated library; None if it ends in an error."""
    if mutation:
        _, file, old, new = mutation
        path = clone / "skem" / file
        text = path.read_text(encoding="utf-8")
        assert old in text, f"{file} has no {old!r}"
        path.write_text(text.replace(old, new), encoding="utf-8")
    command = [sys.executable, "-c", code, *arguments]
    environment = os.environ | {"PYTHONPATH": str(clone)}
    done = subprocess.run(command, cwd=clone, env=environment, stdout=subprocess.PIPE, text=True)
    subprocess.run(["git", "checkout", "--quiet", "skem"], cwd=clone, check=True)
    return None if done.returncode else json.loads(done.stdout)


def accuracies(clone: Path, first: int = 0, last: int = len(MUTATIONS)):
    """Outcome of each mutation on the platform of the reference and on another one."""
    reference = {name: run(clone, ACCURACIES, name) for name in ("", *DATA_SETS)}
    rounding = revisions.read_reference(ROOT / "results/reference/regress.json")["rounding"]
    for mutation in MUTATIONS[first:last]:
        prefix, file, old, new = mutation
        before = reference[prefix if prefix in DATA_SETS else ""]
        if prefix not in DATA_SETS:
            before = {case: fits for case, fits in before.items() if case.startswith(f"digits/{prefix}")}
        after = run(clone, ACCURACIES, prefix, mutation=mutation) or {}
        exact, tolerant = (
            comparison.compare_accuracies(before, after, same, rounding) for same in (True, False)
        )
        yield {
            "file": file,
            "same platform": found(exact),
            "another platform": found(tolerant),
            "code": f"`{' '.join(old.split())}`",
            "changed to": f"`{' '.join(new.split())}`",
        }


def found(table: pd.DataFrame) -> str:
    """How many quantities have which outcome."""
    return ", ".join(f"{n} {outcome}" for outcome, n in table["outcome"].value_counts().sort_index().items())


def times(clone: Path, *only: str):
    """Outcomes on the times of equal and of slower code, on a quiet machine and beside two busy processes."""
    for machine in ("quiet", "loaded"):
        for share, runs in ((0.0, 20), *((share, 3) for share in SHARES)):
            code = f"{share:.0%} slower" if share else "equal"
            if not set(only) <= {machine, code}:
                continue
            mutation = (*SLOWED[:-1], SLOWED[-1].format(share=share)) if share else None
            for _ in range(runs):
                begin = perf_counter()
                with busy(2 * (machine == "loaded")):
                    table = pd.DataFrame(run(clone, TIMES, mutation=mutation))
                cases = table.groupby("outcome")["case"].agg("; ".join)
                others = {name: cases.get(name, "") for name in ("slower", "not decided", "faster")}
                yield (
                    {"code": code, "machine": machine, "same": str((table["outcome"] == "same").sum())}
                    | others
                    | {"seconds": perf_counter() - begin}
                )


@contextmanager
def busy(n_processes):
    processes = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(n_processes)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()


if __name__ == "__main__":
    timing = sys.argv[1:2] == ["times"]
    measure, name = (times, "gate_proof") if timing else (accuracies, "gate_mutations")
    arguments = sys.argv[2:] if timing else map(int, sys.argv[1:])
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["git", "clone", "--quiet", str(ROOT), f"{folder}/clone"], check=True)
        for row in measure(Path(folder, "clone"), *arguments):
            rows.append(row)
            table, title = pd.DataFrame(rows), "faults"
            if timing:
                keys, title = list(table.columns.drop("seconds")), "slowdowns"
                table = table.groupby(keys, sort=False)["seconds"].agg(runs="size", seconds="median")
                table = table.reset_index().astype({"seconds": int})
            text = f"# Planted {title}\n\n{table.to_markdown(index=False, disable_numparse=True)}\n"
            (ROOT / f"results/reference/{name}.md").write_text(text, encoding="utf-8")
            print(*row.values(), sep=" | ", flush=True)
