"""fuyaod: the node agent. Start reading at `fuyaod.model` (values) and `fuyaod.agent` (wiring)."""

__version__ = "0.1.0"
