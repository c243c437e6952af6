# SPDX-License-Identifier: Apache-2.0
# What the hook of the LSM costs an open, in executed instructions.
hotset_bench_policy --json --instructions >rows.jsonl
