"""Cache folders for a run whose home folder is read-only, such as that of a container's user."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import platformdirs


def move_unwritable() -> None:
    """Keep caches in ``.snakemake/cache`` of the checkout if the user's cache folder cannot be written.

    Snakemake would end in a traceback before it reads the Snakefile, so the profile calls this. Jobs inherit the variable.
    """
    folder = platformdirs.user_cache_path("snakemake")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if os.access(folder, os.W_OK):
            return
    except OSError:
        pass
    os.environ["XDG_CACHE_HOME"] = str(Path(".snakemake/cache").absolute())
    print(f"skem: {folder.parent} cannot be written; caches are in .snakemake/cache", file=sys.stderr)
