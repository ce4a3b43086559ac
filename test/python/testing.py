"""Common parts of the tests: paths, and calls of the binary."""

from __future__ import annotations

import os
import subprocess
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(os.environ["CHAKRA_SOURCE"])
BINARY = os.environ["CHAKRA_BINARY"]
DATA = SOURCE.parent / "shared" / "data"
STEP = str(SOURCE / "examples" / "transformer_step")
GLOO = str(SOURCE / "examples" / "capture" / "gloo_ddp_2")


def binary(*words: object, fails: bool = False) -> str:
    """The output of the binary; if it fails, its error without the program's name."""
    done = subprocess.run([BINARY, *map(str, words)], capture_output=True, text=True, check=False)
    if fails:
        assert done.returncode != 0, f"{words} did not fail"
        error = done.stderr.strip()
        assert error.startswith("chakra-replay: "), error
        return error.removeprefix("chakra-replay: ")
    assert done.returncode == 0, done.stderr
    return done.stdout


class FolderTest(unittest.TestCase):
    """A test with its own folder."""

    def setUp(self) -> None:
        held = tempfile.TemporaryDirectory()
        self.addCleanup(held.cleanup)
        self.folder = held.name

    def path(self, name: str) -> str:
        return os.path.join(self.folder, name)
