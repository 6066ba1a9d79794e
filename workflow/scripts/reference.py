"""Copy a finished run to the committed folder, with the record of the machine and the exact versions: checked first, copied last."""

import shutil
from importlib.metadata import distributions
from pathlib import Path

from skem.repro import environment
from skem.repro.files import plain_errors, write_json, write_text

with plain_errors(snakemake.log):
    results, reference = Path("results"), Path("results/reference")
    found = environment.of_results()
    if said := environment.mixture(found):
        raise ValueError(
            f"{said}. A reference has one: delete the results of the others, and make them again"
        )
    if environment.versions(found) != (now := environment.versions(environment.describe())):
        raise ValueError(f"the results are of {environment.versions(found)}, and this is {now}")
    # Not pip's list: environments of uv have no pip. A package with a URL is a checkout.
    installed = {(one.name, one.version) for one in distributions() if not one.read_text("direct_url.json")}
    lines = [
        f"{name}=={version}\n" for name, version in installed if name not in ("pip", "setuptools", "wheel")
    ]
    versions = "".join(sorted(lines, key=str.lower))
    paths = [
        path
        for path in map(Path, [*snakemake.input, *snakemake.params.others])
        # The claims of single papers are in claims.csv, too.
        if path.exists() and path.name != "environment.json" and not path.stem.endswith("_claims")
    ]
    for path in paths:
        target = reference / path.relative_to(results)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
    write_json(reference / "environment.json", found)
    write_text(reference / "requirements.lock", versions)
    print(f"copied to {reference}; review with git diff, then commit")
