"""What results share that wrap a message of the library."""

from __future__ import annotations

import os
from typing import Any, TypeVar

_Text = TypeVar("_Text", bound=str)


class Recorded:
    """Fields of the message in `_record` are attributes."""

    _record: Any

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name in ("_record", "_core"):
            raise AttributeError(name)
        return getattr(self._record, name)


def written(text: _Text, path: str | os.PathLike[str] | None) -> _Text:
    """The text, which also goes to the file at `path` unless that is None."""
    if path is not None:
        with open(path, "w", encoding="utf-8", newline="") as out:
            out.write(text)
    return text
