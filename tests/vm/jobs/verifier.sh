# SPDX-License-Identifier: Apache-2.0
# Loads every BPF program with all that users can switch on switched on (see bpf_load.cpp).
set -f
# shellcheck disable=SC2046 # one argument a word
hotset_bpf_load $(cat /bpf/settings) $(find /bpf -name '*.bpf.o' | sort) >verifier.jsonl
