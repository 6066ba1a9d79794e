"""Training: from a configuration to the rows of a history."""
