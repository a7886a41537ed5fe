"""Tools of the repository itself; none of them is installed on a node."""
