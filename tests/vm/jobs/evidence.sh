# SPDX-License-Identifier: Apache-2.0
# What this kernel has by name, from its own lists: other evidence than the program under test uses. Takes seconds on an
# emulated processor, and is the same in every boot of a kernel.
cat >names <<'END'
BPF_F_MMAPABLE
BPF_MAP_TYPE_RINGBUF
BPF_PROG_TYPE_SYSCALL
bpf_iter__task
bpf_iter__task_vma
bpf_lsm_file_open
bpf_loop
btf_trace_page_fault_user
handle_mm_fault
END
tr '\000' '\n' </sys/kernel/btf/vmlinux | grep -xF -f names | sort -u >btf_names
grep -F handle_mm_fault /proc/kallsyms >kallsyms
rm names
