#!/bin/bash
# The first process of a machine: sets up what any job needs, runs the job, and switches the machine off. The second serial port has
# the job's output alone; the kernel writes to the first.
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t tmpfs tmp /tmp
mount -t tmpfs run /run
mkdir -p /dev/pts
# Over that of the initrd, which another /dev hides: a check would find it mounted.
mount -t devpts pts /dev/pts
ip link set lo up
exec </dev/null >/dev/ttyS1 2>&1
cd /job
# A third disk is the root that has more servers: the job runs in it, with the kernel and the modules of this one.
if [ -b /dev/vdc ]; then
    mount /dev/vdc /mnt
    mkdir -p /mnt/lib/modules
    for dir in dev proc sys tmp run job lib/modules; do mount --rbind "/$dir" "/mnt/$dir"; done
    chroot /mnt env --chdir=/job bash job.sh
else
    bash /job/job.sh
fi
echo "@@status $?"
sync
echo o >/proc/sysrq-trigger
while :; do :; done
