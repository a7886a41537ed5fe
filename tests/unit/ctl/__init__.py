"""Unit tests of fuyaoctl."""
