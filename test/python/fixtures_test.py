"""Python gives the same bytes and the same errors as the binary, on all available recordings."""

import subprocess
import unittest
from pathlib import Path

import chakra_replay as cr
from testing import BINARY, DATA, SOURCE


def recordings() -> list[Path]:
    """The recordings in the source tree, and those in the folder next to it."""
    found = [SOURCE / "examples" / "transformer_step", SOURCE / "examples" / "capture" / "gloo_ddp_2",
             SOURCE / "examples" / "capture" / "nsys_two_gpus.sqlite"]
    found += sorted((SOURCE / "examples" / "what_if" / "captures").glob("*_1"))[::3]
    for folder in ("chakra", "kineto", "nsys", "rocprof", "xplane", "hta", "bad"):
        found += sorted(p for p in (DATA / folder).glob("*") if p.suffix not in (".md", ".csv", ".txt"))
    found += sorted((DATA / "astra-sim" / "microbenchmarks").glob("*"))[:4]
    return found


class Fixtures(unittest.TestCase):
    def check(self, path: Path, words: list[str], **options: object) -> None:
        done = subprocess.run([BINARY, "replay", path, *words, "--format", "json"], capture_output=True, check=False)
        try:
            told, error = cr.replay(cr.load(path), **options).to_json(), ""
        except cr.Error as e:
            told, error = "", str(e)
        self.assertEqual(told, done.stdout.decode(), path)
        if done.returncode != 0:
            self.assertEqual(error, done.stderr.decode("utf-8", "backslashreplace").removeprefix("chakra-replay: ")[:-1])
        self.outcomes[done.returncode] += 1

    def test_equal(self) -> None:
        self.outcomes = {0: 0, 1: 0, 2: 0}
        for path in recordings():
            with self.subTest(path.name):
                self.check(path, [])
                self.check(path, ["--cluster", "dgx-a100", "--fabric", "fluid"], cluster="dgx-a100", fabric="fluid")
        self.assertGreater(self.outcomes[0], 4)
        print(f"{self.outcomes[0]} runs, {self.outcomes[1]} errors", flush=True)


if __name__ == "__main__":
    unittest.main()
