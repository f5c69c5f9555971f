# dls beside GNU ls on local file systems: every byte, the messages and the status, for some hundred command lines each; and how many
# system calls both make. Each is called `ls`, so that messages have the same beginning.
modprobe -a loop ext4 xfs btrfs overlay || exit 77
mkdir -p /tmp/fs
failed=0

# made FILE-SYSTEM: a new one on /tmp/fs, noatime, so that one listing does not change what the next one shows.
made() {
    truncate -s 400M /tmp/image
    case $1 in
    ext4) mkfs.ext4 -q -F /tmp/image && mount -o loop,noatime /tmp/image /tmp/fs ;;
    # Without what the oldest of the kernels cannot mount.
    XFS) mkfs.xfs -q -f -c options=/usr/share/xfsprogs/mkfs/lts_5.10.conf /tmp/image && mount -o loop,noatime /tmp/image /tmp/fs ;;
    btrfs) mkfs.btrfs -q -f /tmp/image && mount -o loop,noatime /tmp/image /tmp/fs ;;
    tmpfs) mount -t tmpfs -o noatime files /tmp/fs ;;
    overlay)
        mkfs.ext4 -q -F /tmp/image && mount -o loop /tmp/image /mnt && mkdir -p /mnt/{lower,upper,work}/ &&
            filled /mnt/lower && mount -t overlay -o noatime,lowerdir=/mnt/lower,upperdir=/mnt/upper,workdir=/mnt/work over /tmp/fs
        ;;
    esac
}

unmade() {
    umount /tmp/fs
    umount /mnt 2>/dev/null
    rm -f /tmp/image
}

# filled DIRECTORY: files of all types, with all kinds of names, modes, times and attributes; and 1,500 files in `many`.
filled() (
    cd "$1" && mkdir -p zoo/sub/deep zoo/.hidden zoo/empty many && cd zoo || exit
    touch -- plain 'a b' "it's" 'tab	bed' $'new\nline' $'\xff\xfe' naïve 日本 UPPER -dash '*' file1 file10 file2 archive.tar.gz image.png x.c x.h x~ .dot
    mkdir -p sticky open setgid && chmod 1755 sticky && chmod 0777 open && chmod 2755 setgid
    cp /bin/true program && cp /bin/true root && chmod 4755 root && chmod 600 plain && chmod 0 file1
    ln -sf plain link && ln -sf nowhere dangling && ln -sf loop loop && ln -sf sub to-sub && ln -f file2 hard
    rm -f fifo null disk # the overlay has those of its lower directory, and then whiteouts
    mkfifo fifo && mknod null c 1 3 && mknod disk b 7 99
    truncate -s 5G sparse && head -c 70000 /dev/zero >large
    setfacl -m u:1:rw file10 2>/dev/null
    setfacl -d -m u:1:rwx open 2>/dev/null
    setfattr -n user.word -v value UPPER 2>/dev/null
    setfattr -n security.capability -v 0x0100000200040000000000000000000000000000 program
    touch -h -d '1969-12-31 23:59:59.123456789 UTC' x.c && touch -h -d '2100-01-01' x.h && touch -d '7 months ago' x~ && touch -d 'now + 1 day' 'a b'
    chown 12345:54321 image.png && touch sub/one sub/deep/two .hidden/three
    cd ../many && seq -f 'file-number-%g' 1500 | xargs touch && chmod +x file-number-1*
)

listed=0
# same [-mode WORD] ARGUMENT...: compares both programs.
same() {
    local mode=() gnu status
    [ "$1" != -mode ] || { mode=("--mode=$2") && shift 2; }
    (exec -a ls /usr/bin/ls "$@") >/tmp/gnu 2>/tmp/gnu-said
    gnu=$?
    # From 9.10 on, as in dls, a link ends with ESC \, before that with BEL.
    [[ $* != *--hyperlink* ]] || sed -i 's/\a/\x1b\\/g' /tmp/gnu
    (exec -a ls /job/dls "${mode[@]}" "$@") >/tmp/own 2>/tmp/own-said
    status=$?
    listed=$((listed + 1))
    if [ $gnu != $status ] || ! cmp -s /tmp/gnu /tmp/own || ! cmp -s /tmp/gnu-said /tmp/own-said; then
        echo "DIFFERENT on $fs (status $gnu, $status): ${mode[*]} $*"
        diff -a /tmp/gnu /tmp/own | head -4
        diff -a /tmp/gnu-said /tmp/own-said | head -4
        failed=1
    fi
}

options=(-1 -a -A -b -B -c -C -d -D -f -F -g -G -h -H -i -k -l -L -m -n -N -o -p -q -Q -r -R -s -S -t -T4 -u -U -v -w40 -x -X -Z --author
    --block-size=K --color=always --dereference-command-line-symlink-to-dir --file-type --full-time --group-directories-first
    --hide='x*' --ignore='*.c' --hyperlink=always --indicator-style=slash --quoting-style=c --quoting-style=shell-always --quoting-style=locale
    --show-control-chars --si --sort=width --sort=version --time=birth --time=ctime --time-style=long-iso --time-style=+%s --zero)

compared() {
    local option with
    cd /tmp/fs/zoo || return
    for option in "${options[@]}"; do
        for with in '' -l -lR -sit; do
            same $with "$option"
        done
    done
    for with in '' -F -l -i -s -t -S --color=always -laL -lZ -iR; do same $with /tmp/fs/many; done
    for mode in classic par iou; do
        for with in -l -F -laL --color=always -lt; do
            same -mode $mode $with /tmp/fs/many
            same -mode $mode $with /tmp/fs/zoo
        done
    done
    same -l link dangling to-sub/ nowhere loop/ .
    cd /tmp
}

# calls PROGRAM ARGUMENT...: how many system calls it makes.
calls() {
    strace -f -qq -o /tmp/calls "$@" >/dev/null 2>&1
    grep -cvE '\+\+\+|---|resumed' /tmp/calls
}

counted() {
    local with
    for with in '' -F -l -s -lR; do
        echo "| $fs | $with | $(calls ls $with /tmp/fs/many) | $(calls /job/dls $with /tmp/fs/many) | $(calls ls $with /tmp/fs/zoo) | $(calls /job/dls $with /tmp/fs/zoo) |"
    done
}

echo "kernel $(uname -r), $(ls --version | head -1)"
echo '| file system | arguments | system calls of GNU ls, 1,500 files | dls | 30 files | dls |'
echo '|---|---|--:|--:|--:|--:|'
for fs in ${SYSTEMS:-ext4 XFS btrfs overlay tmpfs}; do
    made $fs || { echo "no $fs on this kernel" && failed=1 && continue; }
    filled /tmp/fs
    counted
    compared
    unmade
done
echo "$listed command lines"
exit $failed
