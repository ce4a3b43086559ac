"""Functions whose keyword arguments are the options of the command line, documented by the texts of --help."""

from __future__ import annotations

import inspect
import keyword
import os
import textwrap
from typing import Any, Callable, Mapping, Sequence, TypeVar, Union

from . import _core

Function = TypeVar("Function", bound=Callable[..., Any])
#: One path, or several paths.
Paths = Union[str, "os.PathLike[str]", Sequence[Union[str, "os.PathLike[str]"]]]

# The types of an option's value in Python.
_VALUE = "str | float | Mapping[str, Any]"


def kind_of(option: Mapping[str, Any]) -> str:
    """The type of an option, as an annotation."""
    if option["flag"]:
        return "bool | str | None" if option["value"] else "bool"
    if option["choices"]:
        one = "Literal[" + ", ".join(repr(c) for c in option["choices"]) + "]"
        return f"{one} | None"
    if option["type"] in ("N", "K"):
        return "int | None"
    if option["many"]:
        return f"{_VALUE} | Sequence[{_VALUE}] | None"
    return f"{_VALUE} | Sequence[Any] | None"


def name_of(option: Mapping[str, Any]) -> str:
    """The name of an option as an argument: try_ for --try, since try is a keyword of Python."""
    name: str = option["keyword"]
    return name + "_" if keyword.iskeyword(name) else name


def _parameter(option: Mapping[str, Any]) -> inspect.Parameter:
    default = False if option["flag"] else None
    return inspect.Parameter(name_of(option), inspect.Parameter.KEYWORD_ONLY, default=default,
                             annotation=kind_of(option))


def _paragraph(option: Mapping[str, Any]) -> str:
    text = option["help"].replace("--", "").strip()
    told = f" ({option['type']})" if option["type"] else ""
    return textwrap.fill(f"{name_of(option)}{told}: {text}", width=100, initial_indent="    ",
                         subsequent_indent="        ", break_long_words=False, break_on_hyphens=False)


def options_of(function: str) -> list[dict[str, Any]]:
    """The options of a function: a dict each, with keyword, type, help, group."""
    return _core.options_of(function)


def document(name: str) -> Callable[[Function], Function]:
    """A decorator that adds the options of `name` as keyword arguments to a function's signature and docstring."""

    def change(function: Function) -> Function:
        options = options_of(name)
        signature = inspect.signature(function)
        own = [p for p in signature.parameters.values() if p.kind is not inspect.Parameter.VAR_KEYWORD]
        taken = {p.name for p in own}
        more = [o for o in options if o["keyword"] not in taken]
        function.__signature__ = signature.replace(parameters=[*own, *map(_parameter, more)])  # type: ignore
        doc = inspect.cleandoc(function.__doc__ or "")
        group = None
        for option in more:
            if option["group"] != group:
                group = option["group"]
                doc += f"\n\n{group}:"
            doc += "\n" + _paragraph(option)
        function.__doc__ = doc + "\n"
        return function

    return change
