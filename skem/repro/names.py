"""Titles of data sets and baselines in tables and the report."""

from skem.repro.titles import DATA_SETS
from skem.repro.training.classifiers.baselines import ENTRIES, REPORTED

NAMES = DATA_SETS | {name: entry.title for name, entry in ENTRIES.items()} | REPORTED
