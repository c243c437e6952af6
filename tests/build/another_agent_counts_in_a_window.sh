#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# examples/window, built against an installed hotset alone, counts system calls; and hotset window reads what it counts.
set -euo pipefail
cd "$(dirname "$0")/../.."
scripts/build.sh release hotset
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install build --prefix "$work/installed" >/dev/null
mv "$work/installed" "$work/hotset" # a path that was fixed at install time leads nowhere
cp -r examples/window "$work/example"

cmake -S "$work/example" -B "$work/build" -DCMAKE_PREFIX_PATH="$work/hotset" -DCMAKE_BUILD_TYPE=Release >/dev/null
cmake --build "$work/build" >/dev/null
if [ "$(id -u)" -ne 0 ]; then
  echo "built; not run, for that needs root"
  exit 0
fi
"$work/build/syscalls" 3 >"$work/out" &
agent=$!
# By the time of its second line the window has known a whole second.
until [ "$(wc -l <"$work/out")" -ge 2 ]; do
  kill -0 "$agent"
  cat /dev/null # an openat and an execve
done
"$work/hotset/bin/hotset" window syscalls --last 10s --ratio openat/others | tee "$work/window"
wait "$agent"
cat "$work/out"
grep -q -E '^openat +[1-9]' "$work/window"
grep -q -E '^execve +[1-9]' "$work/window"
grep -q -E '^openat [1-9][0-9]*, execve [1-9]' "$work/out"
