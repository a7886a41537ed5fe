"""Unit tests of the declared hosts."""
