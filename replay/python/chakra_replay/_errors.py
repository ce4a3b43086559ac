"""What goes wrong."""

from __future__ import annotations

import re

_FILE = re.compile(r'^(?:cluster )?"?([^\s":]+(?:/|\.)[^\s":]*)"?(?::\d+)*:')
_AT = re.compile(r" at ([^\s:]+):\d+")
_RANK = re.compile(r"\brank (\d+)\b")
_NODE = re.compile(r"\bnode (\d+)\b")


def _number(pattern: re.Pattern[str], text: str) -> int | None:
    found = pattern.search(text)
    return int(found.group(1)) if found else None


class Error(Exception):
    """The input or the run is at fault. The text is what the command line would say."""

    def __init__(self, message: str, code: str = "unknown") -> None:
        super().__init__(message, code)
        self.message = message
        #: What kind of error it is: "invalid_argument", "not_found", "cancelled", ...
        self.code = code

    def __str__(self) -> str:
        return self.message

    @property
    def file(self) -> str | None:
        """The file that is at fault, where the text names one."""
        found = _FILE.search(self.message) or _AT.search(self.message)
        return found.group(1) if found else None

    @property
    def rank(self) -> int | None:
        """The rank that is at fault, the first where the text names several."""
        return _number(_RANK, self.message)

    @property
    def node(self) -> int | None:
        """The id of the node that is at fault, likewise."""
        return _number(_NODE, self.message)
