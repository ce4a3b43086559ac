"""Traces in memory."""

from __future__ import annotations

import os
from typing import Any, Iterator, Mapping, Sequence

from . import _core
from ._errors import Error, shown
from ._options import Paths, document
from ._tables import Table


class Traces:
    """The traces of all ranks, from load() or model(). Immutable; any number of replays may share them at once.

    `traces.nodes` is one table of all nodes; `traces[3]` is a rank, whose columns are NumPy arrays over the memory of
    the traces, without a copy.
    """

    def __init__(self, core: _core.Traces) -> None:
        self._core = core
        self._nodes: Table | None = None

    @property
    def ranks(self) -> int:
        """Number of ranks."""
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
        """`nodes` for readers of Arrow's C stream interface."""
        return self.nodes.__arrow_c_stream__(requested_schema)

    @property
    def node_count(self) -> int:
        """Number of nodes of all ranks."""
        return self._core.node_count

    @property
    def distinct_graphs(self) -> int:
        """Number of distinct graphs, which ranks share."""
        return self._core.distinct_graphs

    @property
    def groups(self) -> Mapping[str, list[int]]:
        """The ranks of each process group, by name. The group of all ranks, "", is not listed."""
        return self._core.groups

    @property
    def warnings(self) -> list[str]:
        """Warnings about the traces."""
        return self._core.warnings

    @property
    def assumptions(self) -> list[str]:
        """Assumptions about ranks without a trace."""
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
    """One path or several as a list. Raises TypeError, which says what is expected, for any other value."""
    several = path if isinstance(path, Sequence) and not isinstance(path, str) else [path]
    for one in several:
        if not isinstance(one, (str, os.PathLike)):
            more = "; these traces are in memory already, give them to replay()" if isinstance(one, Traces) else ""
            raise TypeError(f"load: {shown(one)} is not a path; expected a str, a pathlib.Path, or a list of them{more}")
    return list(several)


@document("load")
def load(*paths: Paths, **options: Any) -> Traces:
    """Reads traces, as on the command line: folders, prefixes, files, archives, captures of any format.

    `load("step", ranks=64)` makes 64 ranks from one trace, `load("step", scale="mlp=0.5")` edits the traces.
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
    """Generates the traces of a training step from the configuration of its model, in memory, without files.

    `model("llama3-70b", parallel={"tp": 8, "pp": 4, "dp": 2}, training={"seq": 8192, "global_batch": 64})`.
    Settings that are left out have the defaults of the command line. The groups of ranks that share experts depend on
    the NVLink domain: unless `parallel` sets `domain`, each replay uses the domain of its cluster, and tables of the
    traces use domains of 8 ranks. Raises Error.
    """
    return load(model=model, parallel=parallel, training=training, **options)


def core_of(traces: Traces) -> _core.Traces:
    """The object of the extension module behind the traces."""
    return traces._core
