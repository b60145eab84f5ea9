#!/usr/bin/env bash
# A fresh Debian in a chroot: a user without rights installs the wheel, has a client configured, and reads a page.
# Needs root, debootstrap and a Debian mirror; takes some minutes, most of them to get the packages.
#
#     scripts/fresh_machine.sh [FOLDER]    FOLDER: for the system, kept and used again where it is given
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

release=bookworm
mirror=${DEBIAN_MIRROR:-http://deb.debian.org/debian}
kept=${1:-}
work=$(mktemp -d)
system=${kept:-$work/system}
as_root() { if [[ $EUID -eq 0 ]]; then "$@"; else sudo "$@"; fi; }

cleanup() {
    for place in dev/shm dev proc; do
        mountpoint -q "$system/$place" && as_root umount "$system/$place"
    done
    as_root rm -rf --one-file-system "$work"
}
trap cleanup EXIT

say() { echo "==> $* (${SECONDS} s)"; }

if [[ ! -e $system/complete ]]; then
    say "a system"
    as_root debootstrap --variant=minbase --include=python3,python3-venv,libatomic1,chromium,chromium-sandbox \
        "$release" "$system" "$mirror" >"$work/log" || { tail -n 20 "$work/log"; exit 1; }
    as_root touch "$system/complete"
fi

say "the wheel, and what it needs"
python3 -m venv "$work/build"
"$work/build/bin/pip" install -q build
"$work/build/bin/python" -m build --outdir "$work/dist" . >"$work/log" 2>&1 || { tail -n 20 "$work/log"; exit 1; }
# For the chroot's Python; it has no network of its own.
"$work/build/bin/pip" download -q --only-binary=:all: --python-version 3.11 --dest "$work/wheels" "$work"/dist/*.whl

say "a user"
as_root rm -rf "$system/home/visitor"
as_root chroot "$system" sh -c 'id visitor >/dev/null 2>&1 || useradd --create-home visitor; mkdir -p /home/visitor/wheels'
as_root cp "$work"/wheels/*.whl "$system/home/visitor/wheels/"
as_root cp scripts/fresh_client.py "$system/home/visitor/client.py"
as_root chroot "$system" chown -R visitor: /home/visitor
as_root mount -t proc proc "$system/proc"
as_root mount -t tmpfs -o mode=755 tmpfs "$system/dev"
as_root mkdir -p "$system/dev/shm"
as_root mount -t tmpfs -o mode=1777 tmpfs "$system/dev/shm"
for device in "null 3" "zero 5" "random 8" "urandom 9"; do
    set -- $device
    as_root mknod -m 666 "$system/dev/$1" c 1 "$2"
done

as_visitor() {
    as_root chroot "$system" su visitor -c "cd && export PATH=\$HOME/environment/bin:\$PATH && $1"
}

say "install"
as_visitor "python3 -m venv environment && pip install -q --no-index --find-links wheels mcp-browser-server"
as_visitor "mcp-browser install"
say "configure, start, read"
as_visitor "mcp-browser config cursor --write --isolated --headless"
as_visitor "python3 client.py .cursor/mcp.json"
say "done"
