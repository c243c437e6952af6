# SPDX-License-Identifier: Apache-2.0
# How this guest is set up: raw text of the kernel's own files.
uname -r >release
cat /proc/cmdline >cmdline
cat /sys/devices/system/cpu/possible >cpu_possible
cat /sys/devices/system/cpu/online >cpu_online
cat /sys/kernel/mm/transparent_hugepage/enabled >thp
cat /sys/kernel/security/lsm >lsm
cat /sys/kernel/security/lockdown >lockdown
grep -w -m1 -o la57 /proc/cpuinfo >la57
cat /sys/fs/cgroup/cgroup.controllers >cgroup2_controllers 2>/dev/null
grep cgroup /proc/mounts >cgroup_mounts
grep ext4 /proc/mounts >ext4_mounts
cat /proc/pressure/memory >psi
ls -d /sys/kernel/tracing/events/exceptions/* >tracepoints
ls /sys/kernel/mm >mm
ls -d /sys/kernel/mm/page_idle/bitmap /sys/kernel/mm/damon/admin /sys/kernel/debug/damon >optional 2>/dev/null
ls /proc/self >proc_self
cat /sys/kernel/debug/sched/preempt >preempt 2>/dev/null
true
