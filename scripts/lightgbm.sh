#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# lightgbm.sh DIR: puts LightGBM's C API into DIR/include and DIR/lib, unless this system has one installed.
#
# Debian does not package it. The Python wheel is a zip archive around the plain shared library, and the source
# distribution has the headers; pip downloads both and checks their hashes (lightgbm/*.txt). Nothing is installed.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
target=$1

fail() {
  echo "setup: LightGBM: $*" >&2
  echo "setup: hotset can be built without it (cmake --preset release -DHOTSET_LIGHTGBM=off); train, evaluate and" \
    "estimate are then not available" >&2
  exit 1
}

for prefix in /usr/local /usr; do
  if [ -e "$prefix/include/LightGBM/c_api.h" ]; then
    echo "setup: using the LightGBM that is installed in $prefix"
    exit 0
  fi
done

# The stamp holds the hash of the pins: other pins are another download.
stamp=$(cat "$here"/lightgbm/*.txt | sha256sum | cut -c1-64)
if [ "$(cat "$target/stamp" 2>/dev/null)" = "$stamp" ] && [ -e "$target/lib/lib_lightgbm.so" ]; then exit 0; fi

[ "$(uname -m)" = x86_64 ] ||
  fail "its wheel is pinned for x86_64 only, and this is $(uname -m): build version 4.7.0 from source and install it"

echo "setup: downloading LightGBM"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
download() { # download WHAT [OPTION…]: the file that lightgbm/WHAT.txt pins
  local what=$1
  shift
  python3 -m pip download --quiet --disable-pip-version-check --no-cache-dir --no-deps --require-hashes "$@" \
    --requirement "$here/lightgbm/$what.txt" --dest "$scratch/$what" >"$scratch/log" 2>&1 ||
    { cat "$scratch/log" >&2; fail "pip could not download it, or its hash is not the pinned one"; }
}
download library --only-binary lightgbm
# Only lightgbm from source: with :all: pip would compile the build tools as well, for minutes.
download headers --no-binary lightgbm

mkdir -p "$scratch/made/lib"
python3 -m zipfile -e "$scratch"/library/*.whl "$scratch/wheel"
cp "$scratch/wheel/lightgbm/lib/lib_lightgbm.so" "$scratch/made/lib/"
tar --extract --gzip --file "$scratch"/headers/*.tar.gz --directory "$scratch/made" --strip-components=1 \
  --wildcards --no-wildcards-match-slash 'lightgbm-*/include' 'lightgbm-*/LICENSE'
echo "$stamp" >"$scratch/made/stamp"

# Whole or not at all.
mkdir -p "$(dirname "$target")"
rm -rf "$target"
mv "$scratch/made" "$target"
