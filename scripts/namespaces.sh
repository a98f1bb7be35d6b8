# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# Sourced: a program in namespaces of its own (mounts, network, processes), also in a chroot.

# namespaces_find: how they can be had here, which namespaces_run then uses; else says why not, and returns 1.
namespaces_find() {
	local reason
	namespaces=(unshare)
	[ "$(id -u)" = 0 ] || namespaces+=(--map-root-user)
	namespaces+=(--mount --net --pid --fork)
	reason=$("${namespaces[@]}" true 2>&1) && return 0
	# In a chroot nothing can be said of the mount that / is on, only of a mount that lies in it.
	if unshare --mount --propagation unchanged true 2>/dev/null; then
		namespaces_chrooted=1
		reason=$(namespaces_run true 2>&1) && return 0
		reason="$reason; in a chroot /proc has to be mounted (mount -t proc proc /proc)"
	fi
	echo "world: no namespaces to be had here: $reason" >&2
	[ "$(id -u)" != 0 ] || echo "world: a container needs CAP_SYS_ADMIN for them" >&2
	return 1
}

# namespaces_run PROGRAM ARGUMENT...: runs it in namespaces of its own, which end with it.
namespaces_run() {
	if [ -z "${namespaces_chrooted-}" ]; then
		"${namespaces[@]}" --kill-child --mount-proc "$@"
	else
		unshare --mount --propagation unchanged bash -c "$namespaces_enter" enter \
			"$PWD" "${namespaces[@]}" --kill-child --mount-proc "$@"
	fi
}

# Goes to a copy of the whole tree whose / is a mount of its own, which is private. It is made on a tmpfs over /proc, as
# that is a mount that can be made private first: so the tree outside gets none of this.
# shellcheck disable=SC2016
namespaces_enter='
	set -e
	folder=$1
	shift
	mount --make-rprivate /proc
	mount -t tmpfs rai /proc
	mkdir /proc/tree
	mount --rbind / /proc/tree
	mount --make-rprivate /proc/tree
	umount /proc/tree/proc
	exec chroot /proc/tree bash -c '\''cd "$1" && shift && exec "$@"'\'' in "$folder" "$@"'
