#!/bin/sh
# packages.sh BUILD TRACE: makes the packages of BUILD, checks their content, and runs both after unpacking
# them in another folder.
set -eu
build=$1 trace=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for kind in DEB TGZ; do
  cpack --config "$build/CPackConfig.cmake" -G $kind -B "$folder/$kind" >"$folder/log" 2>&1 || { cat "$folder/log"; exit 1; }
done
mv "$folder"/DEB/chakra-replay_*.deb "$folder/package.deb"
mv "$folder"/TGZ/*.tar.gz "$folder/folder.tar.gz"

# The Debian package: every library that the binary loads belongs to a package on which it depends, and the
# package has the licences of all archives that are linked into the binary.
dpkg-deb --field "$folder/package.deb" Depends | tr ',' '\n' | sed 's/^ *//; s/ .*//' | sort >"$folder/depends"
for library in libc6 libsimdjson14 libstdc++6 zlib1g; do grep -qx "$library" "$folder/depends"; done
if dpkg-deb --contents "$folder/package.deb" | grep -E '/include/|\.a$|mpi'; then exit 1; fi
if command -v lintian >/dev/null; then lintian --fail-on error,warning "$folder/package.deb" 2>/dev/null; fi
dpkg-deb --extract "$folder/package.deb" "$folder/debian"
for owner in libabsl-dev libprotobuf-dev libsqlite3-dev libssl-dev; do
  [ -s "$folder/debian/usr/share/doc/chakra-replay/libraries/$owner.copyright" ]
done
# Sweeps under mpirun have a separate package, which needs Open MPI.
if [ -e "$build/chakra-replay-mpi.so" ]; then
  mpi=$(echo "$folder"/DEB/chakra-replay-mpi_*.deb)
  dpkg-deb --field "$mpi" Depends | grep -q 'chakra-replay (= .*libopenmpi3'
  dpkg-deb --contents "$mpi" | grep -q '/usr/lib/chakra_replay/chakra-replay-mpi.so$'
  # The module needs only MPI. CPack calls ldconfig for every package with a folder of libraries.
  if command -v lintian >/dev/null; then
    lintian --fail-on error,warning --suppress-tags library-not-linked-against-libc,maintscript-calls-ldconfig "$mpi" 2>/dev/null
  fi
fi
"$folder/debian/usr/bin/chakra-replay" replay "$trace" --cluster dgx-h100 >"$folder/from_package"

# The folder has all libraries except the C library's.
mkdir "$folder/moved here"
tar xzf "$folder/folder.tar.gz" -C "$folder/moved here" --strip-components=1
if ldd "$folder/moved here/bin/chakra-replay" | grep '=>' | grep -v -e "moved here" -e 'lib[cm]\.so'; then exit 1; fi
"$folder/moved here/bin/chakra-replay" replay "$trace" --cluster dgx-h100 >"$folder/from_folder"
# It has the licences of the libraries, and the module for sweeps under mpirun.
docs="$folder/moved here/share/doc/chakra-replay"
grep -q 'Apache License' "$docs/LICENSE"
for library in "$folder/moved here"/lib/chakra_replay/lib*; do
  owner=$(awk -v name="$(basename "$library")" '$1 == name { print $2 }' "$docs/libraries/libraries.txt")
  [ -s "$docs/libraries/$owner.copyright" ]
done
module="$folder/moved here/lib/chakra_replay/chakra-replay-mpi.so"
if [ -e "$build/chakra-replay-mpi.so" ]; then
  [ -e "$module" ]
  # Outside Debian's folders, the binary finds the module relative to itself.
  if command -v mpirun >/dev/null && env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun --oversubscribe -n 2 true; then
    printf 'trace: "%s"\naxis { name: "lanes" option: "--lanes" value: "single" value: "recorded" }\n' "$trace" >"$folder/two.txtpb"
    env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun --oversubscribe -n 2 \
      "$folder/moved here/bin/chakra-replay" sweep "$folder/two.txtpb" -o "$folder/two" | grep -q '2 points, 2 run in'
  fi
fi
cmp "$folder/from_package" "$folder/from_folder"
grep Makespan "$folder/from_folder"
