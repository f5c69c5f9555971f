# GlusterFS: one brick, and its client, a FUSE file system that fetches attributes with the names (READDIRPLUS on both ways).
#
# The brick counts the requests that reach it. Those to the client itself stay on the machine.
host=10.99.0.1 # glusterd takes no name of the loopback
ip link set lo up && ip addr add $host/32 dev lo || exit 77
modprobe -a fuse loop || exit 77
# A brick needs extended attributes of users, which tmpfs has since Linux 6.6.
truncate -s 400M /tmp/brick && mkfs.ext4 -q -F /tmp/brick && mkdir -p /brick && mount -o loop /tmp/brick /brick && mkdir /brick/files || exit 77
glusterd && gluster volume create files $host:/brick/files force >/dev/null && gluster volume start files >/dev/null || exit 77
gluster volume profile files start >/dev/null || exit 77

mounted() {
    mount -t glusterfs $host:/files /mnt || return
    ls -d /mnt >/dev/null # the first request connects the client
    gluster volume profile files info clear >/dev/null
}

unmounted() {
    umount /mnt
}

# A row of its table: percent, three latencies with their unit, calls, operation.
requests() {
    gluster volume profile files info cumulative | awk 'NF == 9 && $9 ~ /^[A-Z]+$/ { print $9 ":" $8 }'
}

mounted && cp -r /srv/. /mnt && unmounted || exit 77
delay
table 'GlusterFS'
exit $failed
