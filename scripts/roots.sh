# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# Sourced: bare roots of Debian's suites, in which packages are built and first steps are tried. Needs root and apt.
# shellcheck disable=SC2154

: "${top:?}"
# shellcheck source=scripts/vm/apt.sh
. "$top/scripts/vm/apt.sh"

# root_tar TAR SUITE PACKAGES: makes the archive of a root once: the essential packages, apt, and PACKAGES (a,b,c). For
# mmdebstrap, which is fetched and unpacked as the servers are, with the host's own apt and mirror.
root_tar() {
	local tar=$1 suite=$2 packages=$3 work source
	[ "$(cat "$tar.packages" 2>/dev/null)" != "$suite $packages" ] || [ ! -e "$tar" ] || return 0
	mkdir -p "$top/.cache"
	work=$(mktemp -d "$top/.cache/bare.XXXXXX")
	apt_own "$work/tool" bookworm || { rm -rf "$work"; return 1; }
	(cd "$work/tool" && apt-get "${own[@]}" -qq download mmdebstrap && dpkg-deb -x mmdebstrap_*.deb .)
	apt_own "$work/apt" "$suite" || { rm -rf "$work"; return 1; }
	apt-config dump | grep '^Acquire::' > "$work/host.conf"
	source=$(sed -E 's/arch=amd64 //' "$work/apt/sources.list")
	echo "making a bare root of $suite, once" >&2
	"$work/tool/usr/bin/mmdebstrap" --quiet --format=tar --mode=root --variant=minbase --include="$packages" \
		--aptopt="$work/host.conf" --dpkgopt=force-unsafe-io "$suite" "$tar.new" - <<< "$source" || { rm -rf "$work" "$tar.new"; return 1; }
	mv "$tar.new" "$tar"
	echo "$suite $packages" > "$tar.packages"
	rm -rf --one-file-system "$work"
}

# root_unpack TAR FOLDER: the root, with the host's way to names.
root_unpack() {
	mkdir -p "$2"
	tar -C "$2" -xf "$1"
	cp /etc/resolv.conf /etc/hosts "$2/etc/"
}

# root_run FOLDER COMMAND...: in the root, in mounts and processes of its own. In the chroot, / is no mount.
root_run() {
	# shellcheck disable=SC2016
	unshare --mount --pid --fork --kill-child bash -c '
		root=$1
		shift
		mount -t proc proc "$root/proc"
		mount --rbind /dev "$root/dev"
		exec chroot "$root" /usr/bin/env -i HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
			PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@"' root "$@"
}
