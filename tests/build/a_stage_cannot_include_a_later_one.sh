#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# kernel event → window → features → model → estimate → present: with the include path that the build gives a folder of
# src/, no header of a folder further down the flow can be found, by whatever name.
set -euo pipefail
cd "$(dirname "$0")/../.."

order=$(sed -n 's/^hotset_library(\([a-z]*\).*/\1/p' src/CMakeLists.txt)
failures=0
shopt -s nullglob

for stage in $order; do
  compgen -G "src/$stage/*.cpp" >/dev/null || continue
  # The flags of any one of its files.
  flags=$(grep -m 1 '"command".* -c .*/src/'"$stage"'/[^/]*\.cpp"' build/compile_commands.json |
    grep -o -E -e ' -(I|isystem) ?[^ ]+') || { echo "no file of src/$stage is compiled"; exit 1; }
  later=$(sed "1,/^$stage\$/d" <<<"$order")
  probe=$(for folder in $later; do
    for header in src/"$folder"/*.h; do
      name=${header#src/}
      echo "#if __has_include(\"$name\") || __has_include(\"src/$name\")"
      echo "#error src/$stage can include $name"
      echo "#endif"
    done
  done)
  # shellcheck disable=SC2086 # one argument a flag
  (cd build && g++ -x c++ -E $flags - -o /dev/null <<<"$probe") || failures=$((failures + 1))
done

# The way round the include path.
if grep -rn -E '#include "(\.\./|src/)' src bpf tests bench --include='*.h' --include='*.cpp' --include='*.c'; then
  failures=$((failures + 1))
fi
exit "$failures"
