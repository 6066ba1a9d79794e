"""Time engines: peers.py sizes|scaling|supervised|beside WORK OUTPUT, with WORK as JSON. A process of its own, since the
kernel of OpenBLAS is chosen when a process starts."""

import json
import os
import sys

from skem.repro import environment
from skem.repro.files import plain_errors, write_table
from skem.repro.peers.measurements import MEASUREMENTS

with plain_errors():
    what, work, output = sys.argv[1:]
    machine = environment.describe()
    kernels = [library["architecture"] for library in machine["libraries"] if library["architecture"]]
    labels = {
        "coretype": os.environ.get("OPENBLAS_CORETYPE", "default"),
        "kernel": kernels[0] if kernels else "",
        "processor": machine["machine"]["processor"],
        "commit": machine["commit"],
    }
    write_table(output, [row | labels for row in MEASUREMENTS[what](json.loads(work))])
