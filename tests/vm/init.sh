#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Process 1 of the guest: mounts what a program may look for, runs each job under its time limit, sends what the job
# left behind as one frame over the second serial line, and switches the machine off.
#
# A frame is "@@job NAME STATUS MILLISECONDS", a gzipped tar of /out/NAME in base64, and "@@end NAME": a line cut short
# by a crash is recognised, and what was sent before it still counts.
export PATH=/bin HOME=/root TERM=dumb
/bin/busybox --install -s /bin 2>/dev/null
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
mkdir -p /dev/pts /dev/shm
# The programs may have been built below /tmp, so nothing is mounted there.
mount -t devpts devpts /dev/pts
mount -t tmpfs tmpfs /dev/shm
mount -t tmpfs tmpfs /run
mount -t debugfs debugfs /sys/kernel/debug
mount -t tracefs tracefs /sys/kernel/tracing
mount -t bpf bpf /sys/fs/bpf
mount -t securityfs securityfs /sys/kernel/security
ip link set lo up
. /etc/environment

case "$HOTSET_GUEST_CGROUP" in
v1)
	mount -t tmpfs tmpfs /sys/fs/cgroup
	mkdir -p /sys/fs/cgroup/memory /sys/fs/cgroup/unified
	mount -t cgroup -o memory cgroup /sys/fs/cgroup/memory
	mount -t cgroup2 cgroup2 /sys/fs/cgroup/unified
	;;
*)
	mount -t cgroup2 cgroup2 /sys/fs/cgroup
	echo '+memory' >/sys/fs/cgroup/cgroup.subtree_control
	echo '+cpu' >/sys/fs/cgroup/cgroup.subtree_control
	;;
esac
while read -r module; do insmod "/modules/$module" || echo "init: insmod $module failed"; done </etc/modules

# For tests of what a file system does that gives inode numbers out again. Without it they would be skipped, so whether
# it is mounted is a check of its own (checks.py).
mkdir -p /mnt/ext4
mount -t ext4 -o loop /ext4.img /mnt/ext4
export HOTSET_EXT4=/mnt/ext4

stty -F /dev/ttyS1 raw -echo
exec 3>/dev/ttyS1
milliseconds() { awk '{ printf "%d", $1 * 1000 }' /proc/uptime; }

echo "@@boot $(uname -r) $(milliseconds)" >&3
while read -r job limit; do
	echo "init: job $job"
	mkdir -p "/out/$job"
	begin=$(milliseconds)
	(cd "/out/$job" && exec timeout -s KILL "$limit" sh "/jobs/$job.sh" >stdout 2>stderr </dev/null 3>&-)
	status=$?
	echo "@@job $job $status $(($(milliseconds) - begin))" >&3
	tar -C "/out/$job" -cf - . | gzip -1 | base64 >&3
	echo "@@end $job" >&3
done </etc/jobs
echo "@@off" >&3
exec 3>&-
poweroff -f
