"""stubs.py PACKAGE: writes the type stubs of the package chakra_replay that was built in PACKAGE.

Functions get the options of the command line as keyword arguments, and the parts of a cluster get the fields of
proto/cluster.proto; both come from the module itself. _core.pyi begins with the text of core.pyi.
"""

from __future__ import annotations

import ast
import keyword
import sys
import textwrap
from pathlib import Path
from typing import Any, Mapping

HERE = Path(__file__).parent
#: Modules with functions whose keyword arguments are options.
MODULES = ("_collective", "_edit", "_plan", "_replay", "_traces")


def options_name(function: ast.FunctionDef) -> str | None:
    """The argument of a function's @document decorator."""
    for decorator in function.decorator_list:
        if isinstance(decorator, ast.Call) and getattr(decorator.func, "id", "") == "document":
            return ast.literal_eval(decorator.args[0])
    return None


class Stub(ast.NodeTransformer):
    """Removes the bodies of a module, and writes out its options as arguments."""

    def __init__(self, options: Any, kind: Any, name: Any) -> None:
        self._options, self._kind, self._name = options, kind, name

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        name = options_name(node)
        if name is not None:
            taken = {a.arg for a in [*node.args.args, *node.args.kwonlyargs]}
            for option in self._options(name):
                if option["keyword"] in taken:
                    continue
                annotation = ast.parse(self._kind(option), mode="eval").body
                node.args.kwonlyargs.append(ast.arg(self._name(option), annotation))
                node.args.kw_defaults.append(ast.Constant(...))
            node.args.kwarg = None
            node.decorator_list = []
        doc = ast.get_docstring(node)
        node.body = [ast.Expr(ast.Constant(doc))] if doc else [ast.Expr(ast.Constant(...))]
        node.args.defaults = [ast.Constant(...) for _ in node.args.defaults]
        node.args.kw_defaults = [ast.Constant(...) if d else None for d in node.args.kw_defaults]
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> Any:
        node.body = [self.visit(part) for part in node.body]
        return node


def stub_of(source: str, options: Any, kind: Any, name: Any) -> str:
    """The stub of a module."""
    tree = Stub(options, kind, name).visit(ast.parse(source))
    imports = "from typing import Literal, Mapping, Sequence\n"
    text = ast.unparse(ast.fix_missing_locations(tree))
    head, rest = text.split("from __future__ import annotations", 1)
    return f"# Made by stubs.py.\n{head}from __future__ import annotations\n{imports}{rest.lstrip()}\n"


SCALARS = {"float": "FloatField", "int": "IntField", "bool": "BoolField", "str": "TextField"}


def field_stub(field: Mapping[str, Any]) -> str:
    """The line for a field of a message."""
    kind = SCALARS.get(field["type"])
    element = field["type"]
    if field["map"]:
        kind = "MapField"
    elif field["repeated"]:
        kind = f"ListField[{element}]"
    elif kind is None:
        kind = f"PartField[{element}]"
    told = [field["doc"], f"in {field['unit']}" if field["unit"] else "", field["range"],
            f"default {field['fallback']}" if field["fallback"] else "", ", ".join(field["words"])]
    doc = "; ".join(t for t in told if t)
    name = field["name"] + "_" * keyword.iskeyword(field["name"])
    return f"    {name}: {kind}" + (f"  # {doc}" if doc else "") + "\n"


def messages_stub(messages: Mapping[str, list[Mapping[str, Any]]]) -> str:
    """The classes for the parts of a cluster."""
    out = []
    for name, fields in messages.items():
        if name == "Cluster":
            continue
        out.append(f"class {name}(Message):\n" + ("".join(map(field_stub, fields)) or "    ...\n"))
    return "\n".join(out)


def main() -> None:
    package = Path(sys.argv[1])
    sys.path.insert(0, str(package.parent))
    import chakra_replay  # noqa: F401: sets the comments file of _core
    from chakra_replay import _core
    from chakra_replay._options import kind_of, name_of

    for module in MODULES:
        source = (HERE / "chakra_replay" / f"{module}.py").read_text(encoding="utf-8")
        (package / f"{module}.pyi").write_text(stub_of(source, _core.options_of, kind_of, name_of), encoding="utf-8")
    messages = _core.cluster_messages()
    core = (HERE / "core.pyi").read_text(encoding="utf-8")
    fields = "".join(map(field_stub, messages["Cluster"]))
    core = core.replace("    # The fields of proto/cluster.proto.\n", fields)
    (package / "_core.pyi").write_text(core + "\n" + messages_stub(messages), encoding="utf-8")


if __name__ == "__main__":
    main()
