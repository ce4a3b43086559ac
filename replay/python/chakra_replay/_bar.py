"""The progress bar of a run."""

from __future__ import annotations

import sys
from typing import Any

_WIDTH = 30


def _in_notebook() -> bool:
    shell = sys.modules.get("IPython")
    kernel = shell.get_ipython() if shell is not None else None
    return kernel is not None and "IPKernelApp" in getattr(kernel, "config", {})


class Bar:
    """Call it with the finished share, from 0 to 1. Draws HTML in a notebook, and text on a terminal."""

    def __init__(self) -> None:
        self._display: Any = None

    def __call__(self, share: float, *unused: Any) -> None:
        if _in_notebook():
            self._draw(share)
        elif sys.stderr.isatty():
            filled = int(share * _WIDTH)
            end = "\n" if share >= 1 else ""
            print(f"\r[{'#' * filled}{'.' * (_WIDTH - filled)}] {share:4.0%}", end=end, file=sys.stderr, flush=True)

    def _draw(self, share: float) -> None:
        from IPython.display import HTML, display  # type: ignore[import]

        bar = HTML(f"<progress value='{share}' max='1' style='width:20em'></progress> {share:.0%}")
        if self._display is None:
            self._display = display(bar, display_id=True)
        else:
            self._display.update(bar)
