"""Stand-ins for the operating system, shared by the tests."""
