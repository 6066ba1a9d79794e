"""Numbers, tables and pages as text."""
