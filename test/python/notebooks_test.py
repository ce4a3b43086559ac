"""The cells of examples/notebooks run in plain Python and in Jupyter, and print the stored output."""

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import traceback
import unittest
from pathlib import Path

from testing import SOURCE

FOLDER = SOURCE / "examples" / "notebooks"

try:
    import matplotlib
except ImportError:
    matplotlib = None


JUPYTER = all(importlib.util.find_spec(name) for name in ("nbconvert", "ipykernel"))


def shown(notebook: dict) -> list[list[str]]:
    """The texts of each cell. Figures depend on the version of matplotlib, so only their presence counts."""
    return [["".join(o["text"] if o["output_type"] == "stream" else o["data"]["text/plain"])
             for o in cell["outputs"]] for cell in notebook["cells"] if cell["cell_type"] == "code"]


def texts(notebook: dict) -> list[list[str]]:
    """The texts of each cell without those of figures, whose sizes Jupyter prints."""
    return [[text for text in cell if not text.startswith("<Figure")] for cell in shown(notebook)]


@unittest.skipIf(matplotlib is None, "needs python3-matplotlib")
class Notebooks(unittest.TestCase):
    def setUp(self) -> None:
        spec = importlib.util.spec_from_file_location("execute", FOLDER / "execute.py")
        self.execute = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(self.execute)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(FOLDER)

    def test_print_the_kept_output(self):
        paths = sorted(FOLDER.glob("*.ipynb"))
        self.assertGreaterEqual(len(paths), 5)
        for path in paths:
            with self.subTest(path.name):
                text = path.read_text(encoding="utf-8")
                anew = self.execute.execute(json.loads(text), path.name)
                self.assertEqual(shown(anew), shown(json.loads(text)))
                figures = [o for cell in anew["cells"] for o in cell.get("outputs", [])
                           if "image/svg+xml" in o.get("data", {})]
                self.assertTrue(figures)
                self.assertNotRegex(text, r"/(home|tmp|root)/")

    @unittest.skipUnless(JUPYTER, "needs python3-nbconvert and python3-ipykernel")
    def test_jupyter_prints_the_same(self):
        paths = sorted(FOLDER.glob("*.ipynb"))
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(
                [sys.executable, "-m", "nbconvert", "--to", "notebook", "--execute", "--output-dir", folder, *paths],
                capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            for path in paths:
                with self.subTest(path.name):
                    anew = json.loads((Path(folder) / path.name).read_text(encoding="utf-8"))
                    self.assertEqual(texts(anew), texts(json.loads(path.read_text(encoding="utf-8"))))

    def test_second_run_gives_the_same_bytes(self):
        text = (FOLDER / "energy.ipynb").read_text(encoding="utf-8")
        first = json.dumps(self.execute.execute(json.loads(text), "energy"))
        self.assertEqual(first, json.dumps(self.execute.execute(json.loads(text), "energy")))

    def test_an_error_names_the_cell(self):
        cell = {"cell_type": "code", "source": ["1 / 0"]}
        try:
            self.execute.execute({"cells": [cell]}, "broken.ipynb")
        except ZeroDivisionError as error:
            last = traceback.extract_tb(error.__traceback__)[-1]
            self.assertEqual(last.filename, "broken.ipynb, cell 1")
        else:
            self.fail("the cell did not raise")


if __name__ == "__main__":
    unittest.main()
