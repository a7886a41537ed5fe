"""Makes reading of a declared host's refused files fail, which a plain tree cannot do."""

from __future__ import annotations

import os
from collections.abc import Mapping

from tests.fakes.refusals import RefusingFiles


class FaultyFiles(RefusingFiles):
    """System calls where reading the given files fails, as the kernel fails it: opening works, reading does not.

    Args:
        root: the root of the tree.
        faults: errno by path relative to the root, as in `Materialised.faults`.
    """

    def __init__(self, root: str | os.PathLike[str], faults: Mapping[str, int]) -> None:
        super().__init__(at_read={os.path.join(os.path.abspath(root), path): number for path, number in faults.items()})
