#!/bin/sh
# Makes the packages, in build/: chakra-replay_VERSION_ARCHITECTURE.deb for this release of Debian, and
# chakra-replay-VERSION-Linux.tar.gz, a folder that runs on any Linux with the same C library or a newer one.
set -eu
cd "$(dirname "$0")/../.."
. examples/packages.sh
# shellcheck disable=SC2086
need_packages $build_packages dpkg-dev file patchelf
if [ ! -f build/CMakeCache.txt ]; then
  cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=Release -DCHAKRA_TESTS=OFF >&2
fi
cmake --build build --target chakra_packed --parallel "$(build_jobs)" >&2
cd build
cpack -G DEB >&2
cpack -G TGZ >&2
ls chakra-replay[_-][0-9]*.deb chakra-replay[_-][0-9]*.tar.gz
