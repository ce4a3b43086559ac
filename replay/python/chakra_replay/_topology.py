"""Networks: their sizes, and drawings of them."""

from __future__ import annotations

import os
from typing import Any, Literal

from . import _core
from ._records import Recorded, written
from ._tables import Table


class Topology(Recorded):
    """A network, from topology(): sizes, distances, bandwidths. Fields of proto/topology_report.proto are attributes.
    A notebook shows a drawing."""

    def __init__(self, core: _core.NetworkView) -> None:
        self._core = core
        self._record = core.record()

    @property
    def findings(self) -> Table:
        """Problems of the network: devices that cannot be reached ("error"), and oddities ("note")."""
        found: Table = self._record.finding
        return found

    def draw(self, path: str | os.PathLike[str] | None = None, *,
             layout: Literal["auto", "tiered", "ring", "grid", "groups"] = "auto",
             format: Literal["svg", "dot"] | None = None) -> Drawing:
        """A drawing; large parts are folded. `path`: also writes it to this file, whose ending selects the format."""
        end = os.fspath(path).rsplit(".", 1)[-1] if path is not None else ""
        dot = format == "dot" or (format is None and end in ("dot", "gv"))
        return written(Drawing(self._core.draw(layout, dot)), path)

    def to_text(self) -> str:
        """The text that `topology show` prints."""
        return self._core.to_text()

    def __repr__(self) -> str:
        return f"<Topology {self._record.topology}: {self._record.devices} devices, {self._record.links} links>"

    def __str__(self) -> str:
        return self.to_text()

    def _repr_svg_(self) -> str:
        return self._core.draw("auto", False)


class Drawing(str):
    """A drawing as SVG or DOT. A notebook shows SVG."""

    def _repr_svg_(self) -> str | None:
        return str(self) if "<svg" in self[:1000] else None


def topology(spec: str | os.PathLike[str] | _core.Cluster, devices: int = 0, *, seed: int = 1,
             radix: int = 0) -> Topology:
    """Analyzes a network: NAME:key=value,... ("fat_tree:k=8"), the file of a network, a preset, or a Cluster.

    `devices`: number of devices to connect; 0: the number that the network gives. `seed`: seed of random samples.
    `radix`: maximum number of links of a switch, for `findings`; 0: no limit. Raises Error.
    """
    if isinstance(spec, _core.Cluster):
        return Topology(_core.topology_of_cluster(spec, devices, seed, radix))
    if not isinstance(spec, (str, os.PathLike)):
        raise TypeError(f"topology: {spec!r} ({type(spec).__name__}) is not a network; expected one as "
                        '"fat_tree:k=4", or the path of a file')
    return Topology(_core.topology(os.fsencode(spec), devices, seed, radix))
