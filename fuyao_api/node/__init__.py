"""The API of one node, one folder per version."""
