"""execute.py NOTEBOOK...: runs the cells of notebooks in this Python, without Jupyter, and stores their output.

The module must be on PYTHONPATH. Cells run in the folder of the notebook. Text, values and figures (SVG) are stored in
the notebook, as Jupyter does; the same code gives the same bytes."""

from __future__ import annotations

import ast
import contextlib
import io
import json
import os
import sys

import matplotlib

matplotlib.use("agg")
import matplotlib.pyplot as plt  # noqa: E402

STYLE = {"svg.hashsalt": "chakra-replay", "figure.facecolor": "white", "figure.figsize": (7, 3),
         "axes.spines.top": False, "axes.spines.right": False, "figure.autolayout": True}


def lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def value_output(value: object, count: int) -> dict:
    data = {"text/plain": lines(repr(value))}
    if (html := getattr(value, "_repr_html_", None)) and (shown := html()):
        data["text/html"] = lines(shown)
    return {"output_type": "execute_result", "execution_count": count, "metadata": {}, "data": data}


def figures() -> list[dict]:
    out = []
    for number in plt.get_fignums():
        held = io.StringIO()
        plt.figure(number).savefig(held, format="svg", metadata={"Date": None})
        out.append({"output_type": "display_data", "metadata": {},
                    "data": {"image/svg+xml": lines(held.getvalue()), "text/plain": ["<Figure>"]}})
    plt.close("all")
    return out


def run_cell(source: str, names: dict, name: str, count: int) -> list[dict]:
    """Runs one cell, and returns its outputs. Passes on the exceptions of the cell."""
    tree = ast.parse(source, name)
    last = None
    if tree.body and isinstance(tree.body[-1], ast.Expr) and not source.rstrip().endswith(";"):
        last = ast.Expression(tree.body.pop().value)
    printed = io.StringIO()
    value = None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, name, "exec"), names)
        if last is not None:
            value = eval(compile(last, name, "eval"), names)
    out = []
    if printed.getvalue():
        out.append({"output_type": "stream", "name": "stdout", "text": lines(printed.getvalue())})
    if value is not None:
        out.append(value_output(value, count))
    return out + figures()


def execute(notebook: dict, name: str) -> dict:
    """Runs all cells of `notebook`, and returns it with the new outputs."""
    names: dict = {"__name__": "__main__"}
    count = 0
    with matplotlib.rc_context(STYLE):
        for cell in notebook["cells"]:
            if cell["cell_type"] != "code":
                continue
            count += 1
            cell["execution_count"] = count
            cell["outputs"] = run_cell("".join(cell["source"]), names, f"{name}, cell {count}", count)
    return notebook


def main() -> int:
    for path in map(os.path.abspath, sys.argv[1:]):
        os.chdir(os.path.dirname(path))
        with open(path, encoding="utf-8") as file:
            notebook = json.load(file)
        text = json.dumps(execute(notebook, os.path.basename(path)), indent=1, ensure_ascii=False) + "\n"
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
