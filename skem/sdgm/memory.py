"""Memory that this process may still take."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path


def available_memory(root: Path = Path("/")) -> int | None:
    """Bytes that are free on this machine, or left of what a control group allows; None on a system that does not say.

    Parameters
    ----------
    root : Path
        The folder that holds ``proc`` and ``sys``.
    """
    sizes = [kib * 1024 for kib in _numbers(root / "proc/meminfo", "MemAvailable:")]
    for line in _lines(root / "proc/self/cgroup"):
        _, controllers, path = line.split(":", 2)
        if controllers == "":  # version 2
            base, limit, usage, cache = "sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"
        elif controllers == "memory":
            base, limit, usage = "sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes"
            cache = "total_inactive_file"
        else:
            continue
        top = root / base
        for group in (top / path.lstrip("/"), *(top / path.lstrip("/")).parents):
            # Pages of files that were read count as used, and are given back when needed.
            cached = sum(_numbers(group / "memory.stat", cache))
            for most, used in zip(_numbers(group / limit), _numbers(group / usage), strict=False):
                sizes.append(max(most - used + cached, 0))
            if group == top:
                break
    if sizes:
        return min(sizes)
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text().splitlines()
    except OSError:
        return []


def _numbers(path: Path, name: str = "") -> Iterator[int]:
    """The whole number in the line of a file that begins with a name."""
    for line in _lines(path):
        words = line.split()
        if not name or words[:1] == [name]:
            yield from (int(word) for word in words if word.isdecimal())
