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

# Runs a workload in the background, waits until it is ready, and estimates it live.
estimate_live() {
  local size=$1 allocation=$2 ready=$out/ready
  "$hotset" workload array --elements "$size" "--$allocation" --seconds 60 >"$ready" &
  local pid=$!
  until [ -s "$ready" ]; do sleep 0.05; done
  "$hotset" estimate "$pid" --model "$model" --interval 1s --count 6 --verify
  kill "$pid" && wait "$pid" || true
}

step "1. What this machine allows (hotset doctor)"
"$hotset" doctor

step "2. Recording: page faults, and the measured working set of the same windows (hotset record)"
"$hotset" record --suite demo --out "$data" --force

step "3. Training (hotset train)"
"$hotset" train --preset paper --out "$model" "$data"/*.csv

step "4. Evaluation beside the baselines (hotset evaluate)"
"$hotset" evaluate --model "$model" --plot "$out/evaluation.html" "$data"/*.csv

step "5. Live: an array of 2^20 integers, allocated anew for each pass, which faults on every pass"
estimate_live 2^20 fresh

step "6. Live: the same array, allocated once: after its first pass it never faults again"
estimate_live 2^20 reuse

step "What was learned"
cat <<EOF
Page faults show first touches and growth. Where memory is allocated anew all the time (step 5), their number follows the
working set, and the model learned it: compare the two columns above. Where memory stays allocated (step 6), a process
faults not at all whatever it uses, and the estimate can only repeat what quiet windows had in training: its flag
"steady_state" says so. The evaluation (step 4) shows the same as numbers, beside "WSS = RSS" and "last label".

Files:
  $data/*.csv               the data sets
  $model, $model.json       the model and its description
  $out/evaluation.html      estimate against truth, as a picture
Next:
  $hotset measure PID 1                     the traditional measurement of any process
  $hotset record PID --out mine.csv         your own data set
  $hotset estimate PID --model $model --verify
EOF
