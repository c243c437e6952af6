#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# build.sh PRESET [TARGET…]: configures a preset of CMakePresets.json when that is due, and builds.
set -euo pipefail
cd "$(dirname "$0")/.."
preset=$1
shift
dir=build
[ "$preset" = release ] || dir=build/$preset

# Ninja configures again when a CMakeLists.txt changed; of the presets and of LightGBM's arrival it knows nothing.
due() {
  [ ! -e "$dir/build.ninja" ] || [ CMakePresets.json -nt "$dir/build.ninja" ] ||
    [ build/deps/lightgbm/stamp -nt "$dir/build.ninja" ]
}

mkdir -p "$dir"
if due; then
  launcher=()
  if command -v ccache >/dev/null; then launcher=(-DCMAKE_C{,XX}_COMPILER_LAUNCHER=ccache); fi
  cmake --preset "$preset" "${launcher[@]}" >"$dir/configure.log" 2>&1 || {
    cat "$dir/configure.log" >&2
    exit 1
  }
  touch "$dir/build.ninja"
fi

# A terminal shows one moving line; a log gets what matters only.
if [ -t 1 ]; then
  exec ninja -C "$dir" "$@"
fi
echo "build: $dir $*"
ninja -C "$dir" --quiet "$@" 2>&1 | sed -e '/no work to do/d' -e '/^-- /d'
