"""The only opener of `/sys`, `/proc`, `/dev` and the other host files. Everything is relative to one root."""

from fuyaod.hostfs.budget import DescriptorBudget
from fuyaod.hostfs.files import Files, OsFiles
from fuyaod.hostfs.root import HostRoot, KeptFile

__all__ = ["DescriptorBudget", "Files", "HostRoot", "KeptFile", "OsFiles"]
