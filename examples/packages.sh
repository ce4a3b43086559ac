# Sourced by the scripts: installs the Debian packages that are missing.
#   need_packages NAME...
need_packages() {
  command -v dpkg-query >/dev/null || return 0
  missing=""
  for p in "$@"; do
    dpkg-query -W -f='${Status}' "$p" 2>/dev/null | grep -q 'ok installed' || missing="$missing $p"
  done
  [ -z "$missing" ] && return 0
  echo "installing:$missing" >&2
  sudo=""
  [ "$(id -u)" = 0 ] || sudo=sudo
  $sudo apt-get update -qq </dev/null >&2
  # shellcheck disable=SC2086
  DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq --no-install-recommends $missing </dev/null >&2
}

# What the binary needs to build.
build_packages="cmake ninja-build g++ pkg-config libprotobuf-dev protobuf-compiler libabsl-dev libcli11-dev
  libzstd-dev zlib1g-dev libsimdjson-dev libre2-dev libyaml-cpp-dev libtomlplusplus-dev libssl-dev
  libpugixml-dev libeigen3-dev libsqlite3-dev ccache mold"
# What tests need beside. Clang builds the sanitized ones, in half of GCC's time.
test_packages="libgtest-dev libgmock-dev zstd clang libclang-rt-dev"
# What benchmarks need, and tests that look outside: other simulators, clusters, a browser.
outside_packages="libbenchmark-dev libsimgrid-dev libns3-dev libopenmpi-dev openmpi-bin slurm-wlm chromium"
# What the Python module needs to build, and its tests: pandas, Dask, virtual environments, a checker of types.
python_packages="pybind11-dev python3-dev python3-numpy python3-pandas python3-distributed python3-venv mypy"
