# To be sourced by scripts: installs the missing ones of these Debian packages.
#   need_packages NAME...
need_packages() {
  if ! command -v dpkg-query >/dev/null; then
    echo "this is no Debian or Ubuntu: install what is needed yourself; examples/install/README.md has the names" >&2
    return 0
  fi
  missing=""
  for p in "$@"; do
    dpkg-query -W -f='${Status}' "$p" 2>/dev/null | grep -q 'ok installed' || missing="$missing $p"
  done
  [ -z "$missing" ] && return 0
  echo "installing:$missing" >&2
  sudo=""
  if [ "$(id -u)" != 0 ]; then
    sudo=sudo
    if ! command -v sudo >/dev/null; then
      echo "packages are missing, and there is no sudo. Ask whoever may, or run as root: apt-get install$missing" >&2
      exit 1
    fi
  fi
  $sudo apt-get update -qq </dev/null >&2
  # shellcheck disable=SC2086
  if ! DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq --no-install-recommends $missing </dev/null >&2; then
    echo "apt-get could not install all of:$missing" >&2
    echo "This script knows Debian 12. Where a release has other names, install what each is for, or take the container:" \
      "examples/install/README.md" >&2
    exit 1
  fi
}

# Prints the number of files to compile at once: the number of cores, or fewer if the memory has less than 1.5
# GiB for each.
build_jobs() {
  jobs=$(nproc)
  if [ -r /proc/meminfo ]; then
    fit=$(awk '/^MemAvailable/ { print int($2 / 1572864) }' /proc/meminfo)
    [ "$fit" -ge 1 ] || fit=1
    [ "$fit" -ge "$jobs" ] || jobs=$fit
  fi
  echo "$jobs"
}

# Packages to build the binary.
build_packages="cmake ninja-build g++ pkg-config libprotobuf-dev protobuf-compiler libabsl-dev libcli11-dev
  libzstd-dev zlib1g-dev libsimdjson-dev libre2-dev libyaml-cpp-dev libtomlplusplus-dev libssl-dev
  libpugixml-dev libeigen3-dev libsqlite3-dev ccache mold"
# Additional packages for tests. Clang builds the sanitized tests, in half of GCC's time.
test_packages="libgtest-dev libgmock-dev zstd clang libclang-rt-dev"
# Packages for benchmarks, and for tests with other programs: other simulators, clusters, a browser.
outside_packages="libbenchmark-dev libsimgrid-dev libns3-dev libopenmpi-dev openmpi-bin slurm-wlm chromium dpkg-dev file
  patchelf lintian mkdocs"
# Packages to build and to test the Python module: pandas, matplotlib, Jupyter, Dask, virtual environments, a
# type checker.
python_packages="pybind11-dev python3-dev python3-numpy python3-pandas python3-matplotlib
  python3-nbconvert python3-ipykernel python3-distributed python3-venv mypy"
