"""Replays."""

from __future__ import annotations

import os
from typing import Any, Callable, Union

from . import _core
from ._options import Paths, document
from ._report import Report
from ._traces import Traces, load

#: The machine of a run: a Cluster, or an argument of --cluster. None: the default cluster.
ClusterLike = Union[_core.Cluster, str, "os.PathLike[str]", None]


def traces_of(traces: Traces | Paths) -> Traces:
    """Returns traces in memory; reads paths."""
    return traces if isinstance(traces, Traces) else load(traces)


def cluster_of(cluster: ClusterLike) -> _core.Cluster | None:
    """Returns a cluster; reads a name or a path. None: the default cluster, which the report then names."""
    if cluster is None or isinstance(cluster, _core.Cluster):
        return cluster
    if not isinstance(cluster, (str, os.PathLike)):
        raise TypeError(f"cluster: {cluster!r} ({type(cluster).__name__}) is not a cluster; expected a Cluster, the name "
                        'of a preset as "dgx-h100" or "dgx-h100:nodes=4", or the path of a file')
    return _core.cluster_of(os.fsencode(cluster))


def progress_of(progress: Callable[..., Any] | bool | None) -> Callable[..., Any] | None:
    """The callback for the progress of a run. True: a bar."""
    if progress is True:
        from ._bar import Bar

        return Bar()
    return progress or None


@document("replay")
def replay(traces: Traces | Paths, cluster: ClusterLike = None, *,
           progress: Callable[[float, float, int, int], Any] | bool | None = None, **options: Any) -> Report:
    """Replays traces on a simulated cluster.

    `traces`: the result of load() or model(), or paths. `cluster`: a Cluster, a preset ("dgx-h100",
    "dgx-h100:nodes=4") or a file; default: dgx-h100. Keyword arguments are the options of `chakra-replay replay`,
    with _ for -: lists for options that may be repeated, dicts for key=value, True for flags. The report is the same as
    the binary's, to the byte.

    `progress` is called a few times a second with the finished share, the simulated seconds, the number of finished
    nodes, and the number of all nodes; True shows a bar. Ctrl-C stops the run. Other threads run meanwhile. Raises
    Error.
    """
    report = _core.replay(traces_of(traces)._core, cluster_of(cluster), _core.told_of_run([], options),
                          progress_of(progress))
    return Report(report)
