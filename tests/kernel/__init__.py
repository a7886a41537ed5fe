"""Tests that need a real kernel of their own: a virtual machine, and what runs inside it."""
