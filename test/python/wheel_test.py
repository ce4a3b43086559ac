"""The wheel is made from the build, installed in a new environment without a network, and used there."""

import os
import re
import subprocess
import sys
import unittest
import zipfile
from pathlib import Path

import chakra_replay as cr
from testing import SOURCE, STEP, FolderTest

SCRIPT = """
import sys
sys.path = [p for p in sys.path if not p.startswith({source!r})]
import chakra_replay as cr
print(cr.__file__)
print(cr.replay({step!r}, "dgx-h100").makespan_ps)
print(open("/proc/self/maps").read())
"""


class Wheel(FolderTest):
    def test_in_a_fresh_environment(self):
        package = Path(cr.__file__).parent
        made = subprocess.run([sys.executable, SOURCE / "replay" / "python" / "wheel.py", package, self.folder], check=True,
                              capture_output=True, text=True).stdout.strip()
        self.assertRegex(os.path.basename(made), r"^chakra_replay-[\d.a-z+]+-cp3\d+-cp3\d+-manylinux_2_\d+_\w+\.whl$")
        with zipfile.ZipFile(made) as wheel:
            names = wheel.namelist()
        self.assertIn("chakra_replay/py.typed", names)
        self.assertIn("chakra_replay/_core.pyi", names)
        with zipfile.ZipFile(made) as wheel:
            folder, = {name.split("/")[0] for name in names if name.endswith("/METADATA")}
            listed = wheel.read(f"{folder}/licenses/libraries/libraries.txt").decode().splitlines()
            metadata = wheel.read(f"{folder}/METADATA").decode()
            self.assertIn("Apache License", wheel.read(f"{folder}/licenses/LICENSE").decode())
        # Each library has the licence texts of its package.
        owners = dict(line.split() for line in listed)
        self.assertEqual(sorted(owners), sorted(os.path.basename(n) for n in names if n.startswith("chakra_replay/lib/")))
        for owner in owners.values():
            self.assertIn(f"{folder}/licenses/libraries/{owner}.copyright", names)
            self.assertIn(f"License-File: libraries/{owner}.copyright\n", metadata)
        self.assertTrue(any("lib/libprotobuf.so" in name for name in names))
        self.assertFalse(any(re.search(r"lib/(libc|libm|libstdc\+\+)\.so", name) for name in names))
        venv = self.path("venv")
        try:
            subprocess.run([sys.executable, "-m", "venv", "--system-site-packages", venv], check=True, capture_output=True)
        except subprocess.CalledProcessError as e:
            self.skipTest(f"venv does not work here (python3-venv): {e.stdout.decode().strip().splitlines()[:1]}")
        environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
        subprocess.run([f"{venv}/bin/pip", "install", "--no-index", "--no-deps", made], check=True, capture_output=True,
                       env=environment)
        told = subprocess.run([f"{venv}/bin/python", "-c", SCRIPT.format(source=str(SOURCE), step=STEP)], check=True,
                              capture_output=True, text=True, env=environment, cwd=self.folder).stdout
        file, makespan, maps = told.split("\n", 2)
        self.assertTrue(file.startswith(venv), file)
        self.assertEqual(int(makespan), cr.replay(STEP, "dgx-h100").makespan_ps)
        # The wheel's libraries are exactly those that are used, directly or not, except the libraries of
        # Python itself.
        own = subprocess.run(["ldd", os.path.realpath(sys.executable)], check=True, capture_output=True, text=True).stdout
        libraries = [n for n in names if n.startswith("chakra_replay/lib/") and os.path.basename(n) not in own]
        self.assertGreater(len(libraries), 10)
        for name in libraries:
            used = {line.split()[-1] for line in maps.splitlines() if line.endswith(os.path.basename(name))}
            self.assertEqual(used, {os.path.join(os.path.dirname(file), "lib", os.path.basename(name))})


if __name__ == "__main__":
    unittest.main()
