"""What a run is made of: files held against schemas, settings, and their faults told all at once."""
