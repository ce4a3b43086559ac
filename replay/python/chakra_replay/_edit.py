"""Edited traces."""

from __future__ import annotations

import os
from typing import Any

from . import _core
from ._options import Paths, document
from ._traces import Traces, load


def _words_of(traces: Traces | Paths) -> list[str | bytes]:
    return list(traces._core.words_here) if isinstance(traces, Traces) else _core.paths_of(traces)


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
        words = _words_of(traces)
        return Traces(_core.Traces.load([*words, *_core.replay_words(options)]))
    return _core.write_edited([*_words_of(traces), *_core.tool_words("edit", options)], os.fsencode(output))
