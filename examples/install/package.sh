#!/bin/sh
# Builds the packages in build/: chakra-replay_VERSION_ARCHITECTURE.deb for this release of Debian,
# chakra-replay-mpi_... for sweeps under mpirun, and chakra-replay-VERSION-Linux.tar.gz, a folder that runs on
# any Linux with the same C library or a newer one.
set -eu
CDPATH='' cd "$(dirname "$0")/../.."
. examples/packages.sh
# shellcheck disable=SC2086
need_packages $build_packages libopenmpi-dev dpkg-dev file patchelf
if [ ! -f build/CMakeCache.txt ]; then
  cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=Release -DCHAKRA_TESTS=OFF >&2
fi
cmake --build build --target chakra_packed --parallel "$(build_jobs)" >&2
cd build
cpack -G DEB >&2
cpack -G TGZ >&2
if ! grep -q 'CPACK_CHAKRA_MPI "TRUE"' CPackConfig.cmake; then
  echo "without what sweeps need under mpirun: this build was configured without Open MPI (libopenmpi-dev)" >&2
fi
ls chakra-replay_[0-9]*.deb chakra-replay-mpi_[0-9]*.deb chakra-replay-[0-9]*.tar.gz 2>/dev/null
