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
