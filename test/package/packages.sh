#!/bin/sh
# packages.sh BUILD TRACE: makes the packages of BUILD, checks what is in them, and runs both unpacked somewhere else.
set -eu
build=$1 trace=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for kind in DEB TGZ; do
  cpack --config "$build/CPackConfig.cmake" -G $kind -B "$folder/$kind" >"$folder/log" 2>&1 || { cat "$folder/log"; exit 1; }
done
mv "$folder"/DEB/*.deb "$folder/package.deb"
mv "$folder"/TGZ/*.tar.gz "$folder/folder.tar.gz"

# Debian's: every library that the binary needs is of a package that it depends on.
dpkg-deb --field "$folder/package.deb" Depends | tr ',' '\n' | sed 's/^ *//; s/ .*//' | sort >"$folder/depends"
for library in libabsl20220623 libc6 libprotobuf32 libsqlite3-0 libstdc++6; do grep -qx "$library" "$folder/depends"; done
if dpkg-deb --contents "$folder/package.deb" | grep -E '/include/|\.a$|mpi'; then exit 1; fi
if command -v lintian >/dev/null; then lintian --fail-on error,warning "$folder/package.deb" 2>/dev/null; fi
dpkg-deb --extract "$folder/package.deb" "$folder/debian"
"$folder/debian/usr/bin/chakra-replay" replay "$trace" --cluster dgx-h100 >"$folder/from_package"

# The folder: all libraries but the C library's are its own.
mkdir "$folder/moved here"
tar xzf "$folder/folder.tar.gz" -C "$folder/moved here" --strip-components=1
if ldd "$folder/moved here/bin/chakra-replay" | grep '=>' | grep -v -e "moved here" -e 'lib[cm]\.so'; then exit 1; fi
"$folder/moved here/bin/chakra-replay" replay "$trace" --cluster dgx-h100 >"$folder/from_folder"
cmp "$folder/from_package" "$folder/from_folder"
grep Makespan "$folder/from_folder"
