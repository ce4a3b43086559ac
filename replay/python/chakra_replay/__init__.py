"""Replays of recorded training steps on simulated clusters.

    import chakra_replay as cr

    traces = cr.load("examples/transformer_step")
    cluster = cr.Cluster.preset("dgx-h100", nodes=2)
    report = cr.replay(traces, cluster, fabric="fluid")
    report.makespan, report.ranks.to_pandas()

Times are seconds, or whole picoseconds if a name ends in _ps; sizes are bytes. Errors are chakra_replay.Error.
"""

import os as _os

from . import _core, kernels
from ._collective import collective
from ._core import COLLECTIVES, NODE_TYPES, NO_LANE, Cluster, RankTrace, Record
from ._core import VERSION as __version__
from ._edit import edit
from ._errors import Error, explain_arguments
from ._options import options_of
from ._plan import Plan, plan
from ._replay import replay
from ._report import Comparison, Report
from ._tables import Row, Table
from ._topology import Drawing, Topology, topology
from ._traces import Traces, load, model
from ._sweep import SweepResults, SweepSpec, sweep

explain_arguments(_core)
_core.set_comments_file(_os.path.join(_os.path.dirname(__file__), "cluster.binpb"))

__all__ = [
    "COLLECTIVES", "Cluster", "Comparison", "Drawing", "Error", "NODE_TYPES", "NO_LANE", "Plan", "RankTrace", "Record",
    "Report", "Row", "SweepResults", "SweepSpec", "Table", "Topology", "Traces", "collective", "edit", "kernels", "load",
    "model", "options_of", "plan", "replay", "sweep", "topology",
]
