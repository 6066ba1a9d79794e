"""The claims table: claims of the papers, our measurements and outcomes."""
