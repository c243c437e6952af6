#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The main job, end to end, on this machine: record page faults with labels, train, evaluate, and estimate a process that
# the model has not seen, beside its measured truth. Called by ./run demo; about two minutes.
set -euo pipefail

cd "$(dirname "$0")/.."
hotset=build/hotset
out=build/demo
data=$out/data
mkdir -p "$out"

step() { printf '\n== %s\n\n' "$*"; }

# evaluate PRESET: the whole report goes to a file; shown is how well targets are told that the model has not seen.
evaluate() {
  local report=$out/evaluation-$1.txt
  "$hotset" evaluate --model "$out/$1.txt" --plot "$out/evaluation-$1.html" "$data"/*.csv >"$report"
  echo "Preset $1, on targets that the model has not seen (error in MiB, in % of RSS, in % of WSS):"
  sed -n '/windows *mean/,/windows *mean/{/windows/p}' "$report" | head -n 1
  sed -n '/^Trained again, data sets left out/,/^  last label/p' "$report" | tail -n +2
  echo
  sed -n '/^What page faults tell/,$p' "$report" | tail -n +2
  echo
}

# estimate_live ARGUMENT…: starts an array workload, which the model has not seen running, and estimates it live.
estimate_live() {
  "$hotset" estimate --model "$out/full.txt" --interval 1s --count 6 --verify -- \
    "$hotset" workload array --elements 2^20 "$@"
}

step "1. What this machine allows (hotset doctor)"
"$hotset" doctor

step "2. Recording: page faults, and the measured working set of the same windows (hotset record)"
echo "An array of 2^7 to 2^22 integers is written in an endless loop: allocated once (reuse), anew for each pass (fresh),"
echo "and anew by an allocator that maps each one (mapped). 40 recordings, about a minute."
"$hotset" record --suite demo --out "$data" --force >"$out/record.log" 2>&1 || { cat "$out/record.log" >&2; exit 1; }
echo "$(grep -c 'samples in' "$out/record.log") data sets, $(cat "$data"/*.csv | grep -cv '^[#t]') samples; summaries in $out/record.log"

step "3. Training: as published (paper: window length and fault count), and with all features (full) (hotset train)"
for preset in paper full; do
  "$hotset" train --preset "$preset" --out "$out/$preset.txt" "$data"/*.csv | head -n 4
done

step "4. Evaluation beside the baselines (hotset evaluate)"
evaluate paper
evaluate full

step "5. Live: 2^20 integers, mapped anew for each pass: it faults on every page of every pass (hotset estimate)"
estimate_live --fresh --mmap-threshold 128KiB

step "6. Live: the same array, allocated once: after its first pass it never faults again"
estimate_live --reuse

step "What was learned"
cat <<EOF
Step 4 says for each way of allocating whether the working set of a process that the model has not seen can be told from
what costs almost nothing to collect, and whether repeating the last measurement would have done better.

MEASURED is the traditional method, which is what the model learned from; TRUTH is the workload's own record of its
array. Where the two differ widely, pages stayed in the processor's TLB, where the traditional method cannot see them.

Page faults show first touches and growth, not reuse. The array of step 6 is written from end to end all the time, and
its fault count is zero: the flag "steady_state" marks such windows. Fault count and window length alone (preset paper)
cannot tell how large it is. Preset full adds what the faults since the start, the resident memory and the CPU time say;
but a model is no better than its labels, and where MEASURED misses what stays in the TLB, as in step 6, it has learned to
miss that, too. For such a process, measure by its Accessed bits: hotset measure PID.

Files:
  $data/*.csv                the data sets
  $out/full.txt, full.txt.json    the model and its description; also paper.txt
  $out/evaluation-full.txt, .html the whole evaluation, with a picture; also evaluation-paper
Next:
  $hotset measure PID 1              measure any process
  $hotset record PID --out mine.csv  your own data set
  $hotset estimate PID --model $out/full.txt --verify
EOF
