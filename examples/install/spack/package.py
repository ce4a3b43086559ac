# A package for Spack's repository. Not tested.
from spack.package import *


class ChakraReplay(CMakePackage):
    """Replay of distributed-training execution traces on simulated clusters."""

    license("Apache-2.0")

    version("main", branch="main")

    variant("mpi", default=False, description="Sweeps under mpirun")

    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("abseil-cpp@20220623: cxxstd=20")
    depends_on("protobuf@3.21:")
    depends_on("cli11")
    depends_on("eigen@3.4:")
    depends_on("openssl")
    depends_on("pugixml")
    depends_on("re2")
    depends_on("simdjson")
    depends_on("sqlite")
    depends_on("tomlplusplus")
    depends_on("yaml-cpp")
    depends_on("zlib-api")
    depends_on("zstd")
    depends_on("mpi", when="+mpi")

    generator("ninja")

    def cmake_args(self):
        return [
            self.define("CHAKRA_TESTS", False),
            self.define("CMAKE_DISABLE_FIND_PACKAGE_MPI", "~mpi" in self.spec),
        ]
