"""Traces in memory."""

from __future__ import annotations

import os
from typing import Any, Iterator, Mapping, Sequence

from . import _core
from ._errors import Error, shown
from ._options import Paths, document
from ._tables import Table


class Traces:
    """What every rank does. Made by load() and model(). Immutable; any number of replays may share it at once.

    `traces.nodes` is one table of all nodes; `traces[3]` is a rank, whose columns are NumPy arrays over the memory of
    the traces, without a copy.
    """

    def __init__(self, core: _core.Traces) -> None:
        self._core = core
        self._nodes: Table | None = None

    @property
    def ranks(self) -> int:
        """How many ranks there are."""
        return self._core.ranks

    def __len__(self) -> int:
        return self._core.ranks

    def __getitem__(self, rank: int) -> _core.RankTrace:
        at = rank + len(self) if rank < 0 else rank
        if not 0 <= at < len(self):
            raise IndexError(f"rank {rank}: the traces have {len(self)} ranks, 0 to {len(self) - 1}")
        return self._core.rank(at)

    def __iter__(self) -> Iterator[_core.RankTrace]:
        return (self[i] for i in range(len(self)))

    @property
    def nodes(self) -> Table:
        """A row for each node of each rank: id, name, type, lane, recorded times, communication."""
        if self._nodes is None:
            self._nodes = Table(self._core.nodes(), name="nodes")
        return self._nodes

    def to_pandas(self) -> Any:
        """`nodes` as a pandas.DataFrame."""
        return self.nodes.to_pandas()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """`nodes` for whoever reads Arrow's C stream interface."""
        return self.nodes.__arrow_c_stream__(requested_schema)

    @property
    def node_count(self) -> int:
        """Nodes of all ranks."""
        return self._core.node_count

    @property
    def distinct_graphs(self) -> int:
        """How many graphs the ranks share."""
        return self._core.distinct_graphs

    @property
    def groups(self) -> Mapping[str, list[int]]:
        """Process groups by name: their ranks. All ranks together are "" and are not listed."""
        return self._core.groups

    @property
    def warnings(self) -> list[str]:
        """What was found about the set."""
        return self._core.warnings

    @property
    def assumptions(self) -> list[str]:
        """What was taken for granted to make ranks that have no trace."""
        return self._core.assumptions

    @property
    def inputs(self) -> list[dict[str, Any]]:
        """The files that were read: path, sha256, bytes, role."""
        return self._core.inputs

    def __reduce__(self) -> tuple[Any, ...]:
        # Unpickling reads the traces again.
        return _reload, (self._core.told, os.fsencode(self._core.folder))

    def __repr__(self) -> str:
        return f"<Traces of {self.ranks} ranks, {self.node_count:,} nodes>"


def _reload(told: bytes, folder: bytes) -> Traces:
    return Traces(_core.Traces.load(told, folder))


def _paths_of(path: Any) -> list[Any]:
    """A path, or several, as a list. Raises TypeError, which says what to give, for anything else."""
    several = path if isinstance(path, Sequence) and not isinstance(path, str) else [path]
    for one in several:
        if not isinstance(one, (str, os.PathLike)):
            more = "; these traces are in memory already, give them to replay()" if isinstance(one, Traces) else ""
            raise TypeError(f"load: {shown(one)} is not a path; expected a str, a pathlib.Path, or a list of them{more}")
    return list(several)


@document("load")
def load(*paths: Paths, **options: Any) -> Traces:
    """Reads traces, as the command line takes them: folders, prefixes, files, archives, captures of any format.

    `load("step", ranks=64)` makes 64 ranks of one trace, `load("step", scale="mlp=0.5")` edits what it reads.
    Raises Error.
    """
    several = [one for path in paths for one in _paths_of(path)]
    if not several and options.get("model") is None:
        raise Error('load: expected at least one path, as load("step"); chakra_replay.model("llama3-8b", ...) makes '
                    "a step without files", "invalid_argument")
    return Traces(_core.Traces.load(_core.told_of_run(several, options)))


@document("load")
def model(model: str | Mapping[str, Any], parallel: str | Mapping[str, Any] | None = None,
          training: str | Mapping[str, Any] | None = None, **options: Any) -> Traces:
    """The traces of a training step from the configuration of its model, in memory: no files are written.

    `model("llama3-70b", parallel={"tp": 8, "pp": 4, "dp": 2}, training={"seq": 8192, "global_batch": 64})`.
    What is left out has the defaults of the command line. Ranks that share experts have groups by the cluster's NVLink
    domain: each replay has those of its cluster, tables of the traces those of 8 neighbours, where `parallel` has no
    `domain`. Raises Error.
    """
    return load(model=model, parallel=parallel, training=training, **options)


def core_of(traces: Traces) -> _core.Traces:
    """What the extension module has of them."""
    return traces._core
