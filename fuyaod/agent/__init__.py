"""Wiring of the daemon: loops, sources, faces. No decision is taken here."""
