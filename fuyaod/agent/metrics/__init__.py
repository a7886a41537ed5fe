"""Prometheus exposition: one table of metrics, written out over the last snapshot when somebody scrapes."""
