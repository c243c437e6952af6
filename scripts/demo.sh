#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The main job, end to end, on this machine: record page faults with labels, train, evaluate, and estimate a process that
# the model has not seen, beside its measured truth. Called by ./run demo; about three minutes.
set -euo pipefail

cd "$(dirname "$0")/.."
hotset=build/hotset
out=build/demo
data=$out/data
model=$out/model.txt
mkdir -p "$out"

step() { printf '\n== %s\n\n' "$*"; }

# estimate_live ARGUMENT…: runs an array workload in the background, waits until it is ready, and estimates it live.
estimate_live() {
  local ready=$out/ready
  : >"$ready"
  "$hotset" workload array --elements 2^20 "$@" --seconds 60 >"$ready" &
  local pid=$!
  until [ -s "$ready" ]; do sleep 0.05; done
  "$hotset" estimate "$pid" --model "$model" --interval 1s --count 6 --verify
  kill "$pid"
  wait "$pid" || true # it ends by our signal
}

step "1. What this machine allows (hotset doctor)"
"$hotset" doctor

step "2. Recording: page faults, and the measured working set of the same windows (hotset record)"
echo "An array of 2^7 to 2^22 integers is written in an endless loop: allocated once (reuse), anew for each pass (fresh),"
echo "and anew by an allocator that maps each one (mapped). 40 recordings, about a minute."
"$hotset" record --suite demo --out "$data" --force >"$out/record.log" 2>&1 || { cat "$out/record.log" >&2; exit 1; }
echo "$(grep -c 'samples in' "$out/record.log") data sets, $(cat "$data"/*.csv | grep -cv '^[#t]') samples; summaries in $out/record.log"

step "3. Training on them, as published (hotset train)"
"$hotset" train --preset paper --out "$model" "$data"/*.csv

step "4. Evaluation beside the baselines (hotset evaluate)"
"$hotset" evaluate --model "$model" --plot "$out/evaluation.html" "$data"/*.csv

step "5. Live: 2^20 integers, mapped anew for each pass: it faults on every page of every pass"
estimate_live --fresh --mmap-threshold 128KiB

step "6. Live: the same array, allocated once: after its first pass it never faults again"
estimate_live --reuse

step "What was learned"
cat <<EOF
The last lines of step 4 say it for each way of allocating, from the numbers above them: whether page faults tell the
working set of a process that the model has not seen, and whether repeating the last measurement would have done better.
Page faults show first touches and growth, not reuse: the array of step 6 is written from end to end all the time, and
its fault count is zero. Its estimate only repeats what quiet windows held in training; the flag "steady_state" says so.

Files:
  $data/*.csv               the data sets
  $model, $model.json       the model and its description
  $out/evaluation.html      estimate against truth, as a picture
Next:
  $hotset measure PID 1                     the traditional measurement of any process
  $hotset record PID --out mine.csv         your own data set
  $hotset estimate PID --model $model --verify
EOF
