#!/bin/sh
# licences.sh FOLDER LIBRARY...: copies to FOLDER what the packages of these libraries say of copyright, each once, the texts
# of licences that they name, and a list of which library is of which package. Of a library that is of no package it says so
# on stderr, and ends with status 1.
set -eu
folder=$1
shift
mkdir -p "$folder"
: >"$folder/libraries.txt"
failed=0

# The package that a file is of; nothing: none is known.
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

# What a package says of its licence: files of it.
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
    # Debian's files name the texts of common licences.
    for common in $(grep -ho '/usr/share/common-licenses/[A-Za-z0-9.+-]*[A-Za-z0-9+]' "$text" | sort -u); do
      [ ! -e "$common" ] || [ -e "$folder/$(basename "$common")" ] || cp -L "$common" "$folder/$(basename "$common")"
    done
  done
done
exit $failed
