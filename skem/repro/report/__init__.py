"""The report: one HTML page of the results of a run."""
