# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Sourced by test.sh and lint.sh: a table of results, and the summary that both end with.
#
# One row a test: verdict, name, reason, separated by tabs. The last line printed is for programs:
# "N passed, N failed, N skipped".

results=build/results/$(basename "$0" .sh).tsv
mkdir -p "$(dirname "$results")"
: >"$results"

record() { printf '%s\t%s\t%s\n' "$@" >>"$results"; }

# check NAME COMMAND…: one test that is a command. What it prints is shown when it fails; exit code 77 is a skip whose
# reason is the last line printed.
check() {
  local name=$1 code=0 log=build/results/log
  shift
  "$@" >"$log" 2>&1 </dev/null || code=$?
  case $code in
    0) record passed "$name" "" ;;
    77) record skipped "$name" "$(tail -n 1 "$log")" ;;
    *)
      echo "--- $name failed"
      cat "$log"
      record failed "$name" "see above"
      ;;
  esac
  echo "$(tail -n 1 "$results" | cut -f 1): $name"
}

# Prints the summary, skipped tests under their reason; fails when a test failed, or when there was none.
summary() {
  echo
  awk -F '\t' '
    { count[$1]++ }
    $1 == "skipped" { names[$3] = names[$3] "\n  " $2 }
    $1 == "failed" { failed = failed "FAILED " $2 ": " $3 "\n" }
    END {
      for (reason in names) print "skipped, " reason ":" names[reason]
      printf "%s%d passed, %d failed, %d skipped\n", failed, count["passed"], count["failed"], count["skipped"]
      exit count["failed"] > 0 || count["passed"] == 0
    }' "$results"
}
