"""Unit tests of the node API."""
