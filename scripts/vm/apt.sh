# Sourced: an apt that works on a state of its own beside the system's, which it leaves alone. Needs no root.

# Site of the archive whose label is $1, as the system's own apt configuration has it. Before the first "apt-get update"
# apt knows no labels; then the path of the address tells.
apt_site() {
	local site end
	site=$(apt-get indextargets --format '$(SITE)|$(LABEL)' 2>/dev/null |
		awk -F'|' -v label="$1" '$2 == label && !n++ { print $1 }')
	case $1 in Debian) end='debian' ;; *) end='debian-security' ;; esac
	[ -n "$site" ] || site=$(cat /etc/apt/sources.list /etc/apt/sources.list.d/*.{list,sources} 2>/dev/null |
		sed -nE "/^[[:space:]]*#/d; s|.*[[:space:]]([a-z+]+:[^[:space:]]*/$end)/?([[:space:]].*)?\$|\1|p" | sed -n 1p)
	echo "$site"
}

# apt_own FOLDER SUITE [ARCHITECTURE]: sets the array "own", options that make apt-get and apt-cache look at SUITE alone,
# for that architecture (amd64), with the mirror that the system uses, and keep what they fetch in FOLDER. The host's own
# architectures are not asked for.
apt_own() {
	local work=$1 suite=$2 arch=${3:-amd64} main security said
	local options="[arch=$arch signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]"
	main=$(apt_site Debian)
	[ -n "$main" ] || { echo "apt knows no Debian archive" >&2; return 1; }
	security=$(apt_site Debian-Security)
	mkdir -p "$work"/{lists,cache/archives}/partial
	echo "deb $options $main $suite main" > "$work/sources.list"
	if [ "$suite" != sid ] && [ -n "$security" ]; then
		echo "deb $options $security $suite-security main" >> "$work/sources.list"
	fi
	own=(-o "Dir::Etc::SourceList=$work/sources.list" -o Dir::Etc::SourceParts=/dev/null
		-o "Dir::State::Lists=$work/lists" -o "Dir::Cache=$work/cache" -o APT::Architecture=$arch -o APT::Architectures=$arch
		-o Acquire::Languages=none -o APT::Sandbox::User=root -o APT::Update::Error-Mode=any)
	said=$(apt-get "${own[@]}" -qq update 2>&1) && return
	# A mirror in the middle of an update is no reason to have nothing: what is fetched runs in namespaces and guests.
	sed -i '/-security main$/d' "$work/sources.list"
	apt-get "${own[@]}" -qq update > /dev/null 2>&1 || { apt_reason "$said" >&2; return 1; }
}

# apt_reason OUTPUT: the one line of apt's that tells why.
apt_reason() { grep -m1 '^E: ' <<< "$1" || tail -n 1 <<< "$1"; }

# apt_unpacked FOLDER WHAT PACKAGES [ALSO]: sees to it that FOLDER/root has Debian 12's PACKAGES ("a b c"), and, of what
# they need on an empty system, which is the same on every host, the libraries but the C library's, and what fits the
# pattern ALSO. Unpacked, not installed. Returns 1 with the reason in a line. Wants say.sh.
apt_unpacked() {
	[ "$(head -n 1 "$1/packages" 2>/dev/null)" != "$3" ] || return 0
	command -v apt-get > /dev/null || { echo "no apt-get here, so $3 can't be fetched" >&2; return 1; }
	mkdir -p "${1%/*}"
	(
		set -e
		flock 9
		[ "$(head -n 1 "$1/packages" 2>/dev/null)" != "$3" ] || exit 0
		work=$(mktemp -d "${1%/*}/fetch.XXXXXX")
		trap 'rm -rf "$work"' EXIT
		trap 'echo "${0##*/}: failed at line $LINENO" >&2' ERR
		apt_unpack "$work" "$@"
	) 9> "$1.lock"
}

# apt_unpack WORK FOLDER WHAT PACKAGES [ALSO]
apt_unpack() {
	local work=$1 folder=$2 what=$3 wanted=$4 also=${5:-} plan listed megabytes deb link target own
	apt_own "$work" bookworm 2> "$work/said" || { echo "no package list to be had ($(cat "$work/said"))" >&2; return 1; }
	# shellcheck disable=SC2086
	plan=$(apt-get "${own[@]}" -o Dir::State::status=/dev/null --print-uris -y -qq --no-install-recommends install $wanted)
	read -r -a listed < <(awk -v wanted="$wanted" -v also="^(${also:-zlib1g})\$" '
		BEGIN { split(wanted, w, " "); for (i in w) ours[w[i]] = 1 }
		{ sub(/_.*/, "", $2) }
		$2 in ours || $2 == "zlib1g" || $2 ~ also ||
		$2 ~ /^lib/ && $2 !~ /-perl$|^libperl|-stdlib$|-minimal$|-common$|^libc6$|^libgcc-s1$|^libpam|^libse/ {
			printf "%s ", $2
			bytes += $3
		}
		END { printf "%.0f\n", bytes / 1e6 }' <<< "$plan")
	megabytes=${listed[-1]}
	unset 'listed[-1]'
	echo "fetching the $what into ${folder%/*}, once, where they are unpacked and not installed" \
		"($megabytes MB, some $((megabytes / 4 + 5)) s with a fast network): $wanted" >&2
	mkdir -p "$work"/tree/root/usr/{bin,sbin,lib} "$work/debs"
	ln -s usr/bin usr/sbin usr/lib "$work/tree/root"
	cd "$work/debs"
	watched "fetching the $what" apt-get "${own[@]}" -o Dir::State::status=/dev/null -qq download "${listed[@]}" \
		> "$work/said" 2>&1 || { apt_reason "$(cat "$work/said")" >&2; return 1; }
	for deb in *.deb; do
		dpkg-deb --fsys-tarfile "$deb" | tar -C "$work/tree/root" -x --no-same-owner --keep-directory-symlink
	done
	# A link to /bin/kmod is meant for an installed system: here it leads to the host's, or to nothing.
	find "$work/tree/root" -type l -lname '/*' -printf '%p\t%l\n' | while IFS=$'\t' read -r link target; do
		ln -sfrn "$work/tree/root$target" "$link"
	done
	{
		echo "$wanted"
		printf '%s\n' *.deb | sed -E 's/_(amd64|all)\.deb$//; s/_/ /'
	} > "$work/tree/packages"
	rm -rf "$work"/tree/root/{etc,var}
	rm -rf "$folder"
	mv "$work/tree" "$folder"
}
