"""Prometheus exposition: one table of metrics, collected over the last snapshot when somebody scrapes."""
