"""Edited traces."""

from __future__ import annotations

import os
from typing import Any

from . import _core
from ._options import Paths, document
from ._traces import Traces, load


@document("edit")
def edit(traces: Traces | Paths, output: str | os.PathLike[str] | None = None, **options: Any) -> Any:
    """Changes traces: what if kernels, collectives or ranks were others?

    Without `output` the edited traces, in memory: they are read again from where they were, and replay() tells in its
    report what the edits did. With `output`, a folder or a file, they are written there, and what the edits did is
    returned (proto/edit.proto's EditReport). `edit("step", scale={"mlp": 0.5})`; `script` names a file of edits.
    Raises Error.
    """
    if output is None:
        options = {("edit" if name == "script" else name): value for name, value in options.items()}
        if isinstance(traces, Traces):  # two concatenated messages merge into one
            return Traces(_core.Traces.load(traces._core.told_here + _core.told_of_run([], options)))
        return Traces(_core.Traces.load(_core.told_of_run(traces, options)))
    told = _core.told_of_edit(traces._core.told_here if isinstance(traces, Traces) else traces, options)
    return _core.write_edited(told, os.fsencode(output))
