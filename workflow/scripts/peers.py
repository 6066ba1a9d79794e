"""Time engines: peers.py sizes|scaling|supervised|beside WORK OUTPUT, with WORK as JSON. A process of its own, since the
kernel of OpenBLAS is chosen when a process starts."""

import json
import sys
from pathlib import Path

from skem.repro import environment
from skem.repro.files import plain_errors, write_table
from skem.repro.peers.measurements import MEASUREMENTS
from skem.repro.peers.processor import numpy_instructions

with plain_errors():
    what, work, output = sys.argv[1:]
    machine = environment.describe()
    kernels = [library["architecture"] for library in machine["libraries"] if library["architecture"]]
    labels = {
        "kernels": Path(output).parent.name,
        "kernel": kernels[0] if kernels else "",
        "numpy": numpy_instructions(),
        "processor": machine["machine"]["processor"],
        "commit": machine["commit"],
        "node": environment.node(),
    }
    write_table(output, [row | labels for row in MEASUREMENTS[what](json.loads(work))])
