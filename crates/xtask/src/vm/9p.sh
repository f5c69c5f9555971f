# The server diod, and the kernel's 9p client over TCP. Nothing is cached (cache=none), as the kernel mounts it by default.
mkdir -p /run/diod
modprobe 9p || exit 77
diod --nwthreads 16 --listen 127.0.0.1:564 --no-auth --export /srv --no-userdb --runas-uid 0 --logdest /tmp/diod.log || exit 77
delay
mount -t tracefs trace /sys/kernel/tracing 2>/dev/null
trace=/sys/kernel/tracing
echo 1 >$trace/events/9p/9p_client_req/enable || exit 77
echo 32768 >$trace/buffer_size_kb

mounted() {
    mount -t 9p -o trans=tcp,port=564,version=9p2000.L,uname=root,access=any,aname=/srv 127.0.0.1 /mnt && echo >$trace/trace
}

unmounted() {
    umount /mnt
}

# The client has no counters, but a trace event for each request.
requests() {
    grep -oE ' request P9_T[A-Z]+' $trace/trace | cut -c13- | sort | uniq -c | awk '{ print $2 ":" $1 }'
}

table '9p and diod'
exit $failed
