"""Errors of the package."""

from __future__ import annotations

import functools
import re
import types
from typing import Any, Callable, TypeVar

_T = TypeVar("_T")

_FILE = re.compile(r'^(?:cluster )?"?([^\s":]+(?:/|\.)[^\s":]*)"?(?::\d+)*:')
_AT = re.compile(r" at ([^\s:]+):\d+")
_RANK = re.compile(r"\brank (\d+)\b")
_NODE = re.compile(r"\bnode (\d+)\b")


def _number(pattern: re.Pattern[str], text: str) -> int | None:
    found = pattern.search(text)
    return int(found.group(1)) if found else None


class Error(Exception):
    """An error of the input or of the run. The text is that of the command line."""

    def __init__(self, message: str, code: str = "unknown") -> None:
        super().__init__(message, code)
        self.message = message
        #: The kind of the error: "invalid_argument", "not_found", "cancelled", ...
        self.code = code

    def __str__(self) -> str:
        return self.message

    @property
    def file(self) -> str | None:
        """The file that has the error, if the text names one."""
        found = _FILE.search(self.message) or _AT.search(self.message)
        return found.group(1) if found else None

    @property
    def rank(self) -> int | None:
        """The rank that has the error; the first one if the text names several."""
        return _number(_RANK, self.message)

    @property
    def node(self) -> int | None:
        """The id of the node that has the error; the first one if the text names several."""
        return _number(_NODE, self.message)


def shown(value: Any) -> str:
    """A value for an error message: at most one line, with its type."""
    text = repr(value).replace("\n", " ")
    return f"{text if len(text) < 60 else text[:57] + '...'} ({type(value).__name__})"


def expect(value: Any, kind: type[_T], what: str) -> _T:
    """Returns `value`. Raises TypeError if it is no `kind`."""
    if not isinstance(value, kind):
        raise TypeError(f"{what}: {shown(value)} is no {kind.__name__}")
    return value


_SIGNATURE = re.compile(r"^\s+\d+\. \((.*)\)", re.MULTILINE)
_SELF = re.compile(r"^(self|arg0): [\w.]*(, |$)")


def _plainly(name: str, told: str, args: tuple[Any, ...], kwargs: dict[str, Any], is_method: bool) -> str:
    """A readable form of pybind11's message about arguments that match no signature."""
    wanted = []
    for signature in _SIGNATURE.findall(told):
        text = _SELF.sub("", signature) if is_method else signature
        wanted.append(re.sub(r"\barg\d+: ", "", text.replace("chakra_replay._core.", "")) or "nothing")
    given = [shown(a) for a in args[is_method:]] + [f"{key}={shown(a)}" for key, a in kwargs.items()]
    return f"{name}: {', '.join(given) or 'no argument'}; expected {', or '.join(dict.fromkeys(wanted))}"


def _explained(function: Callable[..., Any], name: str, is_method: bool) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except TypeError as e:
            told = str(e)
            if "incompatible function arguments" not in told:
                raise
            raise TypeError(_plainly(name, told, args, kwargs, is_method)) from None

    return call


_OPERATORS = ("__getitem__", "__setitem__", "__delitem__", "__contains__")


def explain_arguments(module: types.ModuleType) -> None:
    """Makes the functions and methods of the bindings report wrong arguments in a readable form."""
    for name, value in list(vars(module).items()):
        if isinstance(value, types.BuiltinFunctionType):
            setattr(module, name, _explained(value, name, False))
        if not isinstance(value, type):
            continue
        for method, function in list(vars(value).items()):
            if method.startswith("_") and method not in _OPERATORS:
                continue
            told = f"{value.__name__}.{method}".replace(".__getitem__", "[]")
            if isinstance(function, staticmethod):
                setattr(value, method, staticmethod(_explained(function.__func__, told, False)))
            elif type(function).__name__ == "instancemethod":
                setattr(value, method, _explained(function, told, True))
