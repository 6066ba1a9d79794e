"""Compare with the reference and the base revision, and fail if an accuracy differs or a time is slower."""

import sys

from skem.repro.files import plain_errors
from skem.repro.gate import report

with plain_errors(snakemake.log):
    files, params = snakemake.input, snakemake.params
    known = params.reference, files.accuracy, files.times, params.base, params.path
    sys.exit(report.compare(*known, allowed=params.allowed))
