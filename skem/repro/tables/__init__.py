"""Tables of the papers beside our measurements."""
