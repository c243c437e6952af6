# SPDX-License-Identifier: Apache-2.0
# The published method from end to end, as a user types it: the kprobe on handle_mm_fault records the published target in
# several sizes, a model is trained and judged, and estimates a process that it has not seen.
set -e
hook=kprobe:handle_mm_fault
target="hotset workload array --fresh --mmap-threshold 131072"
for power in 16 17 18 19 20; do
	# shellcheck disable=SC2086 # a command and its arguments
	hotset record --hook $hook --samples 24 --interval 100ms --json --out "2^$power.csv" -- \
		$target --elements "$((1 << power))" >>records.jsonl 2>>stderr
done
hotset train --preset paper --json --out model ./*.csv >train.json
hotset evaluate --model model --json ./*.csv >evaluation.json
# shellcheck disable=SC2086
hotset estimate --hook $hook --model model --interval 200ms --count 5 --verify --json -- \
	$target --elements 400000 >estimates.jsonl
