"""Checks the stubs by mypy: those of the package, and their use in a user's program."""

import subprocess
import sys
import unittest
from pathlib import Path

import chakra_replay as cr
from testing import FolderTest

try:
    import mypy  # noqa: F401
except ImportError:
    mypy = None

GOOD = """
import chakra_replay as cr
import numpy.typing as npt
from typing import Any

traces = cr.load("step", ranks=64, scale={"mlp": 0.5})
cluster = cr.Cluster.preset("dgx-h100", nodes=16)
cluster.topology.dimension[0].bandwidth_gbytes_per_s = 450
cluster.topology.dimension[0].bandwidth_gbytes_per_s = "400Gb/s"
report = cr.replay(traces, cluster, fabric="fluid", lanes="single", straggler=["3=1.5"])
seconds: float = report.makespan
ends: npt.NDArray[Any] = report.ranks["end_ps"]
best: cr.Table = cr.sweep("sweep.txtpb", jobs=2).best()
size: int = cluster.topology.dimension[0].size
again: cr.Traces = cr.model("llama3-8b", {"tp": 8}, training="seq=8192")
plan = cr.plan(model="llama3-8b", try_=["tp=4,8"], ranks=16)
"""

BAD = {
    'cr.replay("step", farbic="fluid")': "farbic",
    'cr.replay("step", lanes="many")': "lanes",
    'cr.load(3)': "load",
    'cr.Cluster.preset("dgx-h100").topologie': "topologie",
    'cr.Cluster.preset("dgx-h100").topology.dimension[0].sizes = 3': "sizes",
    'x: str = cr.replay("step").makespan': "str",
}


@unittest.skipIf(mypy is None, "mypy is not installed")
class Stubs(FolderTest):
    def check(self, *words):
        root = Path(cr.__file__).parent.parent
        return subprocess.run([sys.executable, "-m", "mypy", "--cache-dir", self.path("cache"), *words], text=True,
                              capture_output=True, env={"MYPYPATH": str(root), "PATH": "/usr/bin:/bin"}, check=False)

    def test_users(self):
        with open(self.path("good.py"), "w", encoding="utf-8") as out:
            out.write(GOOD)
        told = self.check("--strict", self.path("good.py"))
        self.assertEqual(told.returncode, 0, told.stdout + told.stderr)
        with open(self.path("bad.py"), "w", encoding="utf-8") as out:
            out.write("import chakra_replay as cr\n" + "\n".join(BAD) + "\n")
        told = self.check("--strict", self.path("bad.py"))
        for line, (code, word) in enumerate(BAD.items(), 2):
            self.assertRegex(told.stdout, rf"bad.py:{line}: error: .*{word}", code)

    def test_the_package(self):
        told = self.check("--strict", str(Path(cr.__file__).parent))
        self.assertEqual(told.returncode, 0, told.stdout + told.stderr)

    def test_names(self):
        """Every name of the stub is in the module, and vice versa."""
        import ast

        from chakra_replay import _core

        stub = ast.parse((Path(cr.__file__).parent / "_core.pyi").read_text(encoding="utf-8"))
        messages = set(_core.cluster_messages()) - {"Cluster"}
        told = {}
        for part in stub.body:
            if isinstance(part, ast.ClassDef) and not part.name.endswith("Field"):
                told[part.name] = {f.name for f in part.body if isinstance(f, ast.FunctionDef)}
                told[part.name] |= {f.target.id for f in part.body if isinstance(f, ast.AnnAssign)}
            elif isinstance(part, ast.FunctionDef):
                told[part.name] = set()
        inherited = {"Cluster": {"to_text"}}
        real = {name for name in dir(_core) if not name.startswith("__") and not name.isupper()}
        self.assertEqual(set(told) - messages, real)
        for name in real:
            held = getattr(_core, name)
            if not isinstance(held, type):
                continue
            names = {n for n in vars(held) if not n.startswith("_")} - inherited.get(name, set())
            self.assertLessEqual(names, told[name], name)
            fields = {f["name"] for f in _core.cluster_messages().get(name, [])}
            self.assertEqual({n for n in told[name] if not n.startswith("_")}, names | fields, name)


if __name__ == "__main__":
    unittest.main()
