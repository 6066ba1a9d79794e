"""Memory that a process may still take."""

import pytest

from skem.sdgm.memory import available_memory

VERSION_2 = ("0::/app/job", "sys/fs/cgroup/app", "memory.max", "memory.current", "inactive_file")
VERSION_1 = (
    *("4:memory:/app/job", "sys/fs/cgroup/memory/app"),
    *("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
)


@pytest.mark.parametrize(("group", "folder", "limit", "usage", "cache"), [VERSION_2, VERSION_1])
def test_available_memory(tmp_path, group, folder, limit, usage, cache):
    for name in ("proc/self", folder):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "proc/meminfo").write_text("MemTotal: 900 kB\nMemAvailable: 500 kB\n")
    assert available_memory(tmp_path) == 500 * 1024
    (tmp_path / "proc/self/cgroup").write_text(f"9:cpu:/\n{group}\n")
    (tmp_path / folder / usage).write_text("70000\n")
    (tmp_path / folder / limit).write_text("max\n")
    assert available_memory(tmp_path) == 500 * 1024
    (tmp_path / folder / limit).write_text("100000\n")
    (tmp_path / folder / "memory.stat").write_text(f"anon 1\n{cache} 20000\n")
    assert available_memory(tmp_path) == 100000 - 70000 + 20000
