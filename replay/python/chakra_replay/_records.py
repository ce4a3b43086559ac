"""The common part of results that wrap a message of the library."""

from __future__ import annotations

import os
from typing import Any, TypeVar

_Text = TypeVar("_Text", bound=str)


class Recorded:
    """An object whose attributes are the fields of the message in `_record`."""

    _record: Any

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name in ("_record", "_core"):
            raise AttributeError(name)
        return getattr(self._record, name)


def written(text: _Text, path: str | os.PathLike[str] | None) -> _Text:
    """Returns the text, and also writes it to the file at `path` unless that is None."""
    if path is not None:
        with open(path, "w", encoding="utf-8", newline="") as out:
            out.write(text)
    return text
