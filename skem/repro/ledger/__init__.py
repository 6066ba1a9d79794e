"""What the papers state, beside what was measured."""
