# SPDX-License-Identifier: Apache-2.0
# Loads every BPF program with all that users can switch on switched on (see bpf_load.cpp).
set -f
typed=
if grep -q bpf_rdonly_cast /sys/kernel/btf/vmlinux; then
	typed='--set typed_pointers=1'
fi
# shellcheck disable=SC2046,SC2086 # one argument a word
hotset_bpf_load $(cat /bpf/settings) $typed $(find /bpf -name '*.bpf.o' | sort) >verifier.jsonl
