"""The papers' tables beside what was measured."""
