"""Permissions of files that are replaced by new ones."""

from __future__ import annotations

import os
import stat
from contextlib import suppress


def keep_permissions(new: int, path: str | os.PathLike[str]) -> None:
    """Give an open file, by its descriptor, the mode of the file at ``path``, if any, and its owner where permitted.

    Call it before the content is written, which a private file shows to nobody at any time.
    """
    with suppress(FileNotFoundError):
        status = os.stat(path)
        if hasattr(os, "fchown"):
            with suppress(OSError):
                os.fchown(new, status.st_uid, status.st_gid)
            os.fchmod(new, stat.S_IMODE(status.st_mode))
