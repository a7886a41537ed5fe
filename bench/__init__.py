"""One module per claim in the README; each prints a table for people and, with `--json`, JSON for machines."""
