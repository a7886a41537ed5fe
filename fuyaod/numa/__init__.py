"""Topology of the node, and placement of CPU, memory and NPU on one NUMA node."""
