"""Declared hosts for tests: see `declare.py`, and `python -m tests.hosts --help` to make one by hand."""
