"""wheel.py PACKAGE FOLDER: makes a wheel in FOLDER from the package chakra_replay that was built in PACKAGE.

The wheel has the shared libraries that the module needs, except those that every Linux has (PEP 600), and their
licences. The libraries are in chakra_replay/lib/, where the run path of the module finds them. The platform tag follows
from the newest symbol of the C library that any of them uses: manylinux_2_36_x86_64. Needs ldd and objdump. Prints the
wheel's path.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

HERE = Path(__file__).parent
# Libraries of the C library and the compiler, which every Linux has (PEP 600 and the policies of auditwheel).
_SYSTEM = re.compile(r"^(linux-vdso|lib(c|m|dl|rt|pthread|util|resolv|nsl|crypt|gcc_s|stdc\+\+)\.so|ld-linux)")
_DATE = (1980, 1, 1, 0, 0, 0)  # a fixed date, so that equal content gives an equal wheel


def command(*words: str) -> str:
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def libraries_of(module: Path) -> dict[str, Path]:
    """The libraries that the wheel must include, by name."""
    found = {}
    for line in command("ldd", str(module)).splitlines():
        name, _, rest = line.strip().partition(" => ")
        if _SYSTEM.match(os.path.basename(name.split(" ")[0])):
            continue
        path = rest.rsplit(" (", 1)[0]
        if not path or "not found" in rest:
            raise SystemExit(f"wheel.py: {module} needs {name}, which is not to be found")
        found[name] = Path(path)
    return found


def licences(libraries: list[Path]) -> dict[str, bytes]:
    """The licence texts of the project and of the libraries' packages, by name."""
    root = HERE.parent.parent
    texts = {"LICENSE": (root / "LICENSE").read_bytes(),
             "copyright": (root / "examples" / "install" / "debian_copyright").read_bytes()}
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["sh", root / "examples" / "install" / "licences.sh", folder, *libraries], check=True)
        for file in sorted(Path(folder).iterdir()):
            texts[f"libraries/{file.name}"] = file.read_bytes()
    return texts


def newest_symbol(files: list[Path]) -> tuple[int, int]:
    """The newest version of the C library's symbols that any file uses."""
    newest = (2, 17)
    for file in files:
        for major, minor in re.findall(r"GLIBC_(\d+)\.(\d+)", command("objdump", "-T", str(file))):
            newest = max(newest, (int(major), int(minor)))
    return newest


class Wheel:
    """A wheel to which files are added one by one."""

    def __init__(self, path: Path) -> None:
        self._zip = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED)
        self._record: list[str] = []

    def add(self, name: str, content: bytes, executable: bool = False) -> None:
        info = zipfile.ZipInfo(name, _DATE)
        info.external_attr = (0o100755 if executable else 0o100644) << 16
        info.compress_type = zipfile.ZIP_DEFLATED
        self._zip.writestr(info, content)
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        self._record.append(f"{name},sha256={digest},{len(content)}")

    def finish(self, info: str) -> None:
        name = f"{info}/RECORD"
        self._zip.writestr(zipfile.ZipInfo(name, _DATE), "\n".join([*self._record, f"{name},,"]) + "\n")
        self._zip.close()


def main() -> None:
    package, folder = Path(sys.argv[1]), Path(sys.argv[2])
    sys.path.insert(0, str(package.parent))
    from chakra_replay import __version__

    module, = package.glob("_core*.so")
    libraries = libraries_of(module)
    glibc = newest_symbol([module, *libraries.values()])
    version = re.sub(r"[^A-Za-z0-9.+]", ".", __version__)
    machine = os.uname().machine
    python = f"cp{sys.version_info[0]}{sys.version_info[1]}"
    tag = f"{python}-{python}-manylinux_{glibc[0]}_{glibc[1]}_{machine}"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"chakra_replay-{version}-{tag}.whl"
    wheel = Wheel(path)
    for file in sorted(package.rglob("*")):
        if file.suffix in (".py", ".pyi", ".so", ".typed", ".binpb") and "__pycache__" not in file.parts:
            wheel.add(f"chakra_replay/{file.relative_to(package)}", file.read_bytes(), file.suffix == ".so")
    for name, file in sorted(libraries.items()):
        wheel.add(f"chakra_replay/lib/{name}", file.read_bytes(), True)
    info = f"chakra_replay-{version}.dist-info"
    texts = licences(sorted(libraries.values()))
    for name, text in texts.items():
        wheel.add(f"{info}/licenses/{name}", text)
    readme = (HERE / "README.md").read_text(encoding="utf-8")
    wheel.add(f"{info}/METADATA", "\n".join([
        "Metadata-Version: 2.1", "Name: chakra-replay", f"Version: {version}",
        "Summary: Replays Chakra execution traces on simulated clusters", "License: Apache-2.0",
        *(f"License-File: {name}" for name in texts),
        f"Requires-Python: =={sys.version_info[0]}.{sys.version_info[1]}.*", "Requires-Dist: numpy>=1.21",
        "Provides-Extra: dask", 'Requires-Dist: distributed; extra == "dask"', "Provides-Extra: pandas",
        'Requires-Dist: pandas; extra == "pandas"', "Description-Content-Type: text/markdown", "", readme]).encode())
    wheel.add(f"{info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: chakra-replay\nRoot-Is-Purelib: false\nTag: {tag}\n".encode())
    wheel.finish(info)
    print(path)


if __name__ == "__main__":
    main()
