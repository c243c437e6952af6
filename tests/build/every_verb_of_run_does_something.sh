#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Each verb that ./run tells of is one that it knows, and calls the script that does the work. The scripts are replaced by
# ones that only leave their name, so that nothing is installed, built or measured.
set -euo pipefail
cd "$(dirname "$0")/../.."
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree/scripts" "$tree/tests/vm"
cp run "$tree/"
for script in scripts/{packages,lightgbm,build,demo,test,lint,bench,fresh}.sh tests/vm/run.py; do
  [ -x "$script" ] || { echo "there is no $script"; exit 1; }
  printf '#!/bin/sh\necho %s >>%s/called\n' "${script##*/}" "$tree" >"$tree/$script"
  chmod +x "$tree/$script"
done

declare -A does=([setup]=build.sh [demo]=demo.sh [test]=test.sh [vm]=run.py [lint]=lint.sh [bench]=bench.sh [fresh]=fresh.sh)
verbs=$("$tree/run" help | sed -n 's/^  \([a-z]\+\) .*/\1/p')
diff <(sort <<<"$verbs") <(printf '%s\n' "${!does[@]}" | sort)
for verb in $verbs; do
  : >"$tree/called"
  "$tree/run" "$verb" >"$tree/out" 2>&1 || { echo "./run $verb ended with $?:"; cat "$tree/out"; exit 1; }
  grep -q -x "${does[$verb]}" "$tree/called" || { echo "./run $verb did not call ${does[$verb]}"; exit 1; }
done
