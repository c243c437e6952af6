#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A build without LightGBM has every command; those that need a model say what is missing, with the documented code.
set -euo pipefail
cd "$(dirname "$0")/../.."
scripts/build.sh without-lightgbm hotset
hotset=build/without-lightgbm/hotset

if ldd "$hotset" | grep -i lightgbm; then
  echo "it is linked with LightGBM all the same"
  exit 1
fi

commands() { "$1" --help | sed -n '/^Subcommands:/,$s/^  \([a-z]*\) .*/\1/p'; }
diff <(commands build/hotset) <(commands "$hotset")

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
needs_a_model() { # needs_a_model COMMAND…
  local code=0
  "$hotset" "$@" >"$scratch/out" 2>"$scratch/err" || code=$?
  if [ "$code" != 5 ] || ! grep -q -i lightgbm "$scratch/err" || [ "$(wc -l <"$scratch/err")" != 1 ]; then
    echo "hotset $1 ended with $code and said:"
    cat "$scratch/err"
    return 1
  fi
}
echo anything >"$scratch/file"
needs_a_model train --out "$scratch/model" "$scratch/file"
needs_a_model evaluate --model "$scratch/file" "$scratch/file"
! commands "$hotset" | grep -q estimate || needs_a_model estimate $$ --model "$scratch/file"
[ ! -e "$scratch/model" ]

# And what needs none works: doctor names it among its checks.
"$hotset" doctor --json | grep -q '"build.lightgbm"'
"$hotset" measure $$ 10ms >/dev/null
