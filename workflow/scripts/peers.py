"""Time implementations of EM: peers.py WORK OUTPUT, WORK as JSON. The environment of a process selects its instructions."""

import json
import sys
from pathlib import Path

import numpy as np

from skem.repro import environment
from skem.repro.files import plain_errors, write_table
from skem.repro.peers import timing

with plain_errors():
    work, output = json.loads(sys.argv[1]), sys.argv[2]
    machine = environment.describe()
    simd = np.show_config(mode="dicts")["SIMD Extensions"]
    labels = {
        "instructions": Path(output).parent.name,
        "openblas": next((one["architecture"] for one in machine["libraries"] if one["architecture"]), ""),
        "numpy": [*simd["baseline"], *simd.get("found", [])][-1],
        "processor": machine["machine"]["processor"],
        "commit": machine["commit"],
        "node": environment.node(),
    }
    measure = timing.supervised if "models" in work else timing.unsupervised
    write_table(output, [row | labels for row in measure(work)])
