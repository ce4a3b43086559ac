#!/bin/sh
# licences.sh FOLDER LIBRARY...: copies to FOLDER the copyright files of the packages of these libraries, each
# once, the texts of licences that they refer to, and a list with the package of each library. If a library
# belongs to no package, prints an error, and ends with status 1.
set -eu
folder=$1
shift
mkdir -p "$folder"
: >"$folder/libraries.txt"
failed=0

# Prints the package of a file; nothing if none is known.
package_of() {
  for at in "$1" "$(readlink -f "$1")" "/usr$1" "/usr$(readlink -f "$1")" "${1#/usr}" "$(readlink -f "$1" | sed 's|^/usr||')"; do
    if command -v dpkg-query >/dev/null && owner=$(dpkg-query --search "$at" 2>/dev/null); then
      echo "$owner" | head -n 1 | sed 's/[:,].*//'
      return
    fi
    if command -v rpm >/dev/null && owner=$(rpm -qf --qf '%{NAME}\n' "$at" 2>/dev/null); then
      echo "$owner" | head -n 1
      return
    fi
  done
}

# Prints the names of the files with a package's licence.
texts_of() {
  if [ -e "/usr/share/doc/$1/copyright" ]; then
    echo "/usr/share/doc/$1/copyright"
  elif command -v rpm >/dev/null; then
    rpm -q --licensefiles "$1" 2>/dev/null | grep '^/' || true
  fi
}

for library in "$@"; do
  package=$(package_of "$library")
  texts=$([ -z "$package" ] || texts_of "$package")
  if [ -z "$texts" ]; then
    echo "licences.sh: $library: no package says under which licence it is; expected one with /usr/share/doc/PACKAGE/copyright" >&2
    failed=1
    continue
  fi
  echo "$(basename "$library")  $package" >>"$folder/libraries.txt"
  for text in $texts; do
    name=$package.$(basename "$text")
    [ "$(basename "$text")" != copyright ] || name=$package.copyright
    [ -e "$folder/$name" ] || cp -L "$text" "$folder/$name"
    # Debian's files refer to the texts of common licences.
    for common in $(grep -ho '/usr/share/common-licenses/[A-Za-z0-9.+-]*[A-Za-z0-9+]' "$text" | sort -u); do
      [ ! -e "$common" ] || [ -e "$folder/$(basename "$common")" ] || cp -L "$common" "$folder/$(basename "$common")"
    done
  done
done
exit $failed
