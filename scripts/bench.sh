#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# bench.sh [NAME] [--json] [OPTION…]: builds and runs one benchmark, or all. Without --json each prints a table.
set -euo pipefail
cd "$(dirname "$0")/.."

names=()
for source in bench/*.cpp; do names+=("$(basename "$source" .cpp)"); done
if [ $# -gt 0 ] && [ "${1#-}" = "$1" ]; then
  [ -e "bench/$1.cpp" ] || { echo "bench: there is no $1; there are: ${names[*]}" >&2; exit 2; }
  names=("$1")
  shift
fi

scripts/build.sh release "${names[@]/#/hotset_bench_}" >&2
for name in "${names[@]}"; do
  "build/hotset_bench_$name" "$@"
done
