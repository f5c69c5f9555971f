# Samba's smbd, and the kernel's client with SMB 3.1.1.
mkdir -p /run/samba
cat >/tmp/smb.conf <<'END'
[global]
    disable netbios = yes
    load printers = no
[files]
    path = /srv
    read only = no
END
printf 'word\nword\n' | smbpasswd -c /tmp/smb.conf -s -a root >/dev/null && smbd -D -s /tmp/smb.conf || exit 77
delay

mounted() {
    mount -t cifs //127.0.0.1/files /mnt -o username=root,password=word,vers=3.1.1 && echo 0 >/proc/fs/cifs/Stats
}

unmounted() {
    umount /mnt
}

# Opening a file, asking about it and closing it travel in one message, but each of the three counts.
requests() {
    awk '/^[A-Z][A-Za-z]+s: [0-9]+ total/ && $2 { print $1 $2 }' /proc/fs/cifs/Stats
}

# A server's ACL is no mark here: the client lists the attributes of users alone.
setfacl -m u:1:rwx /srv/dir/file-number-7
setfattr -n user.word -v value /srv/dir/file-number-8

# All lists in one: neither kind of client asks the server about a mark.
LONG=$more LONG_TREE=0
table 'Samba and SMB 3.1.1'
exit $failed
