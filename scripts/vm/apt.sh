# Sourced: an apt that works on a state of its own beside the system's, which it leaves alone.

# Site of the archive whose label is $1, as the system's own apt configuration has it.
apt_site() {
	apt-get indextargets --format '$(SITE)|$(LABEL)' 2>/dev/null |
		awk -F'|' -v label="$1" '$2 == label { print $1; exit }'
}

# apt_own FOLDER SUITE: sets the array "own", options that make apt-get and apt-cache look at SUITE alone, with the
# mirror that the system uses, and keep what they fetch in FOLDER.
apt_own() {
	local work=$1 suite=$2 main security
	local key='[signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]'
	main=$(apt_site Debian)
	[ -n "$main" ] || { apt-get update -qq; main=$(apt_site Debian); }
	[ -n "$main" ] || { echo "apt knows no Debian archive" >&2; return 1; }
	security=$(apt_site Debian-Security)
	mkdir -p "$work"/{lists,cache/archives}/partial
	echo "deb $key $main $suite main" > "$work/sources.list"
	if [ "$suite" != sid ] && [ -n "$security" ]; then
		echo "deb $key $security $suite-security main" >> "$work/sources.list"
	fi
	own=(-o "Dir::Etc::SourceList=$work/sources.list" -o Dir::Etc::SourceParts=/dev/null
		-o "Dir::State::Lists=$work/lists" -o "Dir::Cache=$work/cache"
		-o Acquire::Languages=none -o APT::Sandbox::User=root)
	apt-get "${own[@]}" -qq update
}
