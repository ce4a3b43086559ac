#!/bin/sh
# Fetches Chart.js again, and checks that it is what README.md names.
set -eu
CDPATH='' cd "$(dirname "$0")"
version=4.6.1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
(cd "$work" && npm pack --silent "chart.js@$version" >/dev/null && tar xzf "chart.js-$version.tgz")
(cd "$work/package" && cp dist/chart.umd.min.js LICENSE.md "$work")
(cd "$work" && sha256sum -c --quiet -) <<SUMS
87364cc2b2a76a6684929e7d6b80b18a897794db38400caff1fcf1791c6925d2  chart.umd.min.js
41a84aa2caba645f966a18d9c2056b73e6d3a81d80bc0046bc0011a2634d4cce  LICENSE.md
SUMS
cp "$work/chart.umd.min.js" "$work/LICENSE.md" .
echo "chart.js $version: as named"
