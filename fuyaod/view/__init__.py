"""Snapshots for people: tables (pure) and the one-screen live view."""
