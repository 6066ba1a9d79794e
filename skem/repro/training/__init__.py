"""From a setting to the rows of a history."""
