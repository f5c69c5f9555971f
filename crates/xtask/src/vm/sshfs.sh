# sshfs and OpenSSH's sftp-server: FUSE with a server behind it.
#
# sshfs logs each request to the server. Those to sshfs itself stay on the machine: it keeps the attributes that came with the names.
mkdir -p /run/sshd /root/.ssh
ssh-keygen -q -A && ssh-keygen -q -t ed25519 -N '' -f /root/.ssh/id_ed25519 || exit 77
cp /root/.ssh/id_ed25519.pub /root/.ssh/authorized_keys
/usr/sbin/sshd && modprobe fuse || exit 77
delay

mounted() {
    : >/tmp/sshfs.log
    sshfs -f -o debug,sshfs_debug,StrictHostKeyChecking=no 127.0.0.1:/srv /mnt >>/tmp/sshfs.log 2>&1 &
    server=$!
    for _ in $(seq 200); do
        grep -q ' /mnt fuse.sshfs ' /proc/mounts && : >/tmp/sshfs.log && return
        sleep 0.1
    done
    false
}

unmounted() {
    umount /mnt
    wait $server
}

requests() {
    grep -aoE '^\[[0-9]+\] [A-Z]+' /tmp/sshfs.log | cut -d' ' -f2 | sort | uniq -c | awk '{ print $2 ":" $1 }'
}

table 'sshfs and sftp-server'
exit $failed
