"""Edits of traces."""

from __future__ import annotations

import os
from typing import Any

from . import _core
from ._options import Paths, document
from ._traces import Traces, load


@document("edit")
def edit(traces: Traces | Paths, output: str | os.PathLike[str] | None = None, **options: Any) -> Any:
    """Edits traces, to answer what-if questions about kernels, collectives and ranks.

    Without `output`, returns the edited traces in memory. They are read again from their files, and the report of
    replay() says what the edits did. With `output`, a folder or a file, writes them there, and returns what the edits
    did (EditReport of proto/edit.proto). `edit("step", scale={"mlp": 0.5})`; `script` names a file of edits.
    Raises Error.
    """
    if output is None:
        options = {("edit" if name == "script" else name): value for name, value in options.items()}
        if isinstance(traces, Traces):  # two concatenated messages merge into one
            return Traces(_core.Traces.load(traces._core.told_here + _core.told_of_run([], options)))
        return Traces(_core.Traces.load(_core.told_of_run(traces, options)))
    told = _core.told_of_edit(traces._core.told_here if isinstance(traces, Traces) else traces, options)
    return _core.write_edited(told, os.fsencode(output))
