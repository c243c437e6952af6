#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# cmake --install: the program runs from where it is put, with the LightGBM that was put beside it, and has its manual.
set -euo pipefail
cd "$(dirname "$0")/../.."
scripts/build.sh release hotset
prefix=$(mktemp -d)
trap 'rm -rf "$prefix"' EXIT
cmake --install build --prefix "$prefix/usr" >/dev/null
# Moved, so that a path that was fixed at build or install time leads nowhere.
mv "$prefix/usr" "$prefix/moved"

"$prefix/moved/bin/hotset" --version
used=$(ldd "$prefix/moved/bin/hotset")
if grep -q 'not found' <<<"$used" || grep "$PWD" <<<"$used"; then
  echo "$used"
  exit 1
fi
if readelf -d "$prefix/moved/bin/hotset" | grep -E 'R(UN)?PATH' | grep -v 'ORIGIN'; then exit 1; fi
[ -s "$prefix/moved/share/man/man1/hotset.1" ]
