"""Tests that run inside the test machine, as root, on a kernel that nothing else uses."""
