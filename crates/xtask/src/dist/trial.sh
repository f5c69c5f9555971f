#!/bin/sh
# Installs, runs and removes the package PACKAGE in the Debian root ROOT: sh trial.sh ROOT PACKAGE
set -eu
root=$1
package=$2

say() { echo "   $*"; }
fail() { echo "FAILED: $*" >&2; exit 1; }
inside() { chroot "$root" "$@"; }
files() { (cd "$root" && find . -xdev ! -path './proc/*' ! -path './var/lib/dpkg/*' ! -path './var/log/*' ! -path './tmp/*' | sort); }

say "before: no dls, and the ls of coreutils"
inside sh -c '! command -v dls' || fail "dls is there already"
ls_before=$(sha256sum < "$root/bin/ls")
files > "$root/tmp/before"

cp "$package" "$root/tmp/dents.deb"
say "$(inside dpkg --install /tmp/dents.deb | tail -n 1)"
inside dpkg --audit | grep . && fail "dpkg --audit reports"
inside dpkg --verify dents | grep . && fail "a file differs from the package"
[ "$(sha256sum < "$root/bin/ls")" = "$ls_before" ] || fail "ls was replaced"

say "dls and dls-libc print what ls prints"
for program in dls dls-libc; do
    for options in "-la /" "-l /usr/bin" "-R /etc" "-lS --time-style=full-iso /usr/lib"; do
        # shellcheck disable=SC2086
        inside ls $options > "$root/tmp/expected"
        # shellcheck disable=SC2086
        inside $program $options > "$root/tmp/actual"
        cmp "$root/tmp/expected" "$root/tmp/actual" || fail "$program $options"
    done
done
say "dents counts what find finds"
count=$(inside find /usr | wc -l)
inside dents scan /usr | wc -l | grep -qx "$count" || fail "dents scan /usr does not print $count lines"
inside dls --version | head -n 1
inside dents --version

say "each file of the package"
inside dpkg --listfiles dents | while read -r file; do
    [ -e "$root$file" ] || case $file in
    # Debian's roots without documentation leave these out.
    /usr/share/doc/* | /usr/share/man/*) ;;
    *) fail "$file is missing" ;;
    esac
done

say "removed"
inside dpkg --purge dents > /dev/null
rm "$root/tmp/dents.deb" "$root/tmp/expected" "$root/tmp/actual"
files > "$root/tmp/after"
diff "$root/tmp/before" "$root/tmp/after" || fail "files are left behind, or gone"
inside sh -c '! command -v dls && ls / > /dev/null' || fail "after the removal"
say "the root is as it was"
