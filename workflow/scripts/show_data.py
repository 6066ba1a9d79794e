"""Print what data there is."""

import json
from pathlib import Path

from skem import datasets

print(datasets.format_table(json.loads(Path(path).read_text(encoding="utf-8")) for path in snakemake.input))
