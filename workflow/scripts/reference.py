"""Copy tables, figures and the record of the machine to the committed folder, with the exact versions."""

import shutil
import subprocess
import sys
from pathlib import Path

from skem.repro.files import plain_errors, write_text

with plain_errors():
    results, reference = Path("results"), Path("results/reference")
    for path in map(Path, [*snakemake.input, *snakemake.params.others]):
        if path.exists():
            target = reference / path.relative_to(results)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
    freeze = [sys.executable, "-m", "pip", "freeze", "--exclude-editable"]
    versions = subprocess.run(freeze, capture_output=True, text=True, check=True).stdout
    write_text(reference / "requirements.lock", versions)
    print(f"copied to {reference}; review with git diff, then commit")
