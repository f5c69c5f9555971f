#!/bin/sh
# Installs, runs and removes the package PACKAGE in the Debian root ROOT: sh trial.sh ROOT PACKAGE
set -eu
root=$1
package=$2

say() { echo "   $*"; }
fail() { echo "FAILED: $*" >&2; exit 1; }
inside() { chroot "$root" "$@"; }
# What is in the root, without the records of dpkg and of man.
files() {
    (cd "$root" && find . -xdev ! -path './proc/*' ! -path './var/lib/dpkg/*' ! -path './var/log/*' ! -path './tmp/*' \
        ! -path './var/cache/man/*' | sort)
}

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
    [ -e "$root$file" ] || fail "$file is missing"
done
say "manual pages and completions"
for page in dls dls-libc dents dents-scan; do
    inside man "$page" | grep -qx NAME || fail "man $page"
done
for program in dls dents; do
    inside bash -euc ". /usr/share/bash-completion/completions/$program; complete -p $program" > /dev/null ||
        fail "the completions of $program"
    [ -s "$root/usr/share/zsh/vendor-completions/_$program" ] || fail "completions of zsh"
    [ -s "$root/usr/share/fish/vendor_completions.d/$program.fish" ] || fail "completions of fish"
done

say "removed"
inside dpkg --purge dents > /dev/null
rm "$root/tmp/dents.deb" "$root/tmp/expected" "$root/tmp/actual"
files > "$root/tmp/after"
diff "$root/tmp/before" "$root/tmp/after" || fail "files are left behind, or gone"
inside sh -c '! command -v dls && ls / > /dev/null' || fail "after the removal"
say "the root is as it was"
