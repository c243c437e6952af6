#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# test.sh [STAGE…]: builds and runs the tests, from the ones that need nothing to the ones that take longest.
#
#   unit    without privileges           kernel  as root, on the running kernel
#   vm      kernel tests in guests of other kernels: HOTSET_VM_SERIES names them, 6.1 and 6.12 if it does not
#   e2e     the program as a user has it build   the build itself, and its variants
#   asan    unit tests under AddressSanitizer and UndefinedBehaviorSanitizer
#   fuzz    every fuzzer, for some seconds
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/results.sh
source scripts/results.sh

readonly kSuiteTimeout=600 kFuzzSeconds=${HOTSET_FUZZ_SECONDS:-5}

# Puts into the array `unprivileged` what to write before the program $1 so that it runs without privileges. For root that
# means as user nobody, or, where nobody cannot reach this folder (it may be in root's home), stripped of every capability.
drop_privileges_for() {
  unprivileged=()
  [ "$(id -u)" = 0 ] || return 0
  # Root's own PATH may lead through folders that nobody may not search.
  unprivileged=(env PATH=/usr/local/bin:/usr/bin:/bin HOME=/nonexistent setpriv --reuid=65534 --regid=65534 \
    --clear-groups --inh-caps=-all --no-new-privs)
  "${unprivileged[@]}" test -x "$PWD/$1" 2>/dev/null ||
    unprivileged=(setpriv --bounding-set=-all --inh-caps=-all --no-new-privs)
}

# gtest STAGE COMMAND…: runs a GoogleTest program and records each of its tests. Every test suite has a process of its own:
# what one leaves behind, be it a heap in pieces or a crash, is none of the others' business.
gtest() {
  local stage=$1 suites suite before code
  shift
  before=$(wc -l <"$results")
  suites=$("$@" --gtest_list_tests | sed -n 's/^\([^ ].*\)\.\( .*\)\?$/\1/p' | sort -u) || suites=
  for suite in $suites; do
    code=0
    timeout --kill-after=10 "$kSuiteTimeout" "$@" --gtest_color=no --gtest_filter="$suite.*" 2>&1 </dev/null || code=$?
    echo "[EXIT] $code $suite"
  done | awk -v stage="$stage" -v results="$results" -f scripts/gtest.awk
  # It may not even have told its tests.
  [ "$(wc -l <"$results")" -gt "$before" ] || record failed "$stage" "no test has run"
}

stage_unit() {
  scripts/build.sh release hotset_unit_tests || return
  drop_privileges_for build/hotset_unit_tests
  gtest unit "${unprivileged[@]}" build/hotset_unit_tests
}

stage_e2e() {
  scripts/build.sh release hotset hotset_e2e_tests || return
  gtest e2e build/hotset_e2e_tests
}

stage_build() {
  scripts/build.sh release hotset || return
  local script
  for script in tests/build/*.sh; do
    check "build.$(basename "$script" .sh)" "$script"
  done
}

stage_asan() {
  scripts/build.sh asan hotset_unit_tests || return
  export ASAN_OPTIONS=abort_on_error=1:detect_stack_use_after_return=1 UBSAN_OPTIONS=print_stacktrace=1
  drop_privileges_for build/asan/hotset_unit_tests
  gtest asan "${unprivileged[@]}" build/asan/hotset_unit_tests
}

stage_kernel() {
  scripts/build.sh release hotset_kernel_tests || return
  gtest kernel build/hotset_kernel_tests
}

stage_vm() {
  scripts/build.sh release hotset hotset_kernel_tests hotset_bpf_load hotset_bench_policy || return
  check vm.own_tests python3 -m unittest discover --start-directory tests/vm --pattern 'test_*.py'
  # shellcheck disable=SC2086 # one argument a series
  tests/vm/run.py --record "$results" ${HOTSET_VM_SERIES-6.1 6.12}
}

# Bounded by time, not by runs: what a fuzzer covers in it depends on the machine, what it must never do does not.
stage_fuzz() {
  scripts/build.sh asan hotset_fuzzers || return
  local source name
  for source in tests/fuzz/*.cpp; do
    name=$(basename "$source" .cpp)
    mkdir -p "build/asan/found/$name"
    check "fuzz.$name" "build/asan/hotset_fuzz_$name" -max_total_time="$kFuzzSeconds" -timeout=10 -rss_limit_mb=2048 \
      -artifact_prefix="build/asan/$name-" "build/asan/found/$name" "tests/fuzz/corpus/$name"
  done
}

stages=("$@")
[ $# -gt 0 ] || stages=(unit kernel vm e2e build asan fuzz)
for stage in "${stages[@]}"; do
  declare -F "stage_$stage" >/dev/null || { echo "test: there is no stage $stage" >&2; exit 2; }
done
for stage in "${stages[@]}"; do
  # A stage that cannot be built is a failure of its own, and the others still run.
  ("stage_$stage") || record failed "$stage" "the stage could not be built or run"
done
summary
