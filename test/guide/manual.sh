#!/bin/sh
# manual.sh BINARY: tests that the manual can be built, that its links lead to pages, and that the search
# finds common words.
set -eu
here=$(CDPATH= cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$here/../../examples/manual/build.py" "$folder" "$1"
site=$folder/site
for page in index guide/captures commands/replay commands/doctor keys/packet keys/network formats/cluster measured/collectives rooms/trace; do
  [ -s "$site/$page.html" ]
done
# Links to pages and pictures have targets.
cd "$site"
find . -name '*.html' ! -name 404.html | sort | while read -r page; do
  grep -oE '(href|src)="[^"#?]+' "$page" | cut -d'"' -f2 | grep -vE '^[a-z]+:|^$' | sort -u | while read -r link; do
    case $link in *html5shiv*) continue ;; esac  # in a comment, for browsers of 2010
    [ -e "${page%/*}/$link" ] || echo "$page: $link"
  done
done >"$folder/broken"
if [ -s "$folder/broken" ]; then
  cat "$folder/broken"
  exit 1
fi
grep -q 'fabric' search/search_index.json
grep -q -- '--power-cap' commands/replay.html
grep -q 'alpha_timer' keys/transport.html
# Words that a reader may type, including options.
command -v node >/dev/null || { echo "node is not installed: the search is not tried"; exit 0; }
set -- straggler --straggler '--straggler device:0=1.2' -q --power-cap --fabric=fluid 'analytical|fluid'
node "$here/search.js" "$site" "$@" >"$folder/found"
for query; do
  cut -f1 "$folder/found" | grep -qxF -e "$query" || { echo "the search finds nothing for $query"; exit 1; }
done
grep -q '^--straggler	commands/replay.html' "$folder/found"
