"""Times of collectives by size."""

from __future__ import annotations

import warnings
from typing import Any

from . import _core
from ._options import document
from ._replay import ClusterLike, cluster_of
from ._tables import Table


@document("collective")
def collective(kind: str, cluster: ClusterLike = None, **options: Any) -> Table:
    """Predicts the times of a collective as nccl-tests would measure them: a row for each size.

    `collective("all_reduce", "dgx-h100", ranks=16, bytes="1KiB..8GiB")`. Raises Error.
    """
    table, notes = _core.collective(kind, options, cluster_of(cluster))
    for note in notes:
        warnings.warn(note, stacklevel=2)
    return Table(table, name=kind)
