# SPDX-License-Identifier: BSD-2-Clause
# Peers with devices that Soft-RoCE is not, which a shim plays (shim.c): ECE options of two vendors, or none; iWARP; XRC.
# Then Debian's rping, each end on either library and with each of these devices: it pings, and what the queue pair of
# each end was given is what the two devices have in common.
PEERS_SHIM=${PROGRAMS%/*}/vm_shim.so
PEERS_AT=10.2.0.1

# A device is VENDOR:OPTIONS, or none. What the queue pair of each end is to be given; nothing where it is not to be.
peers_server_due() {
	case $1,$2 in
	none,* | *,none) ;;
	"${2%:*}":*) echo "$2" ;;
	*) echo "${1%:*}:0" ;;
	esac
}
peers_client_due() {
	case $1,$2 in
	*,none) ;;
	"${2%:*}":*) printf '%s:%x\n' "${2%:*}" $((0x${1#*:} & 0x${2#*:})) ;;
	*) echo "${2%:*}:0" ;;
	esac
}

# peers_end LIBRARY DEVICE LOG COMMAND...
peers_end() {
	local path=
	[ "$1" = system ] || path=$LIBRARY
	LD_LIBRARY_PATH=$path LD_PRELOAD=$PEERS_SHIM RAI_SHIM=ece=$2 RAI_SHIM_LOG=$3 timeout -k 1 10 "${@:4}" < /dev/null
}

# peers_rping LOG SERVERLIBRARY SERVERDEVICE CLIENTLIBRARY CLIENTDEVICE
peers_rping() {
	local log=$1 server client=0 status=0
	peers_end "$2" "$3" "$log.server" rping -s -a $PEERS_AT -C 2 -V &
	server=$!
	wait_for 5 has_listener || echo "server not ready"
	peers_end "$4" "$5" "$log.client" rping -c -a $PEERS_AT -C 2 -V || client=$?
	wait $server || status=$?
	# With librdmacm rping's event thread may read from a channel that its main thread has just destroyed.
	[ "$4" != system ] || ! grep -q 'rdma_get_cm_event: Bad file descriptor' "$log.log" || client=0
	[ $client$status = 00 ] || { echo "client $client, server $status"; return 1; }
	peers_given server "$log.server" "$(peers_server_due "$3" "$5")" &&
		peers_given client "$log.client" "$(peers_client_due "$3" "$5")"
}

peers_given() {
	local got
	got=$(sed -n 's/^ece //p' "$2" | tail -n 1)
	[ "$got" = "$3" ] || { echo "$1 was given '$got', not '$3'"; return 1; }
}

layout_one
LD_PRELOAD=$PEERS_SHIM LD_LIBRARY_PATH=$LIBRARY tap peers 100 "${PROGRAMS}peers"

mkdir -p "$OUT/peers"
peers_libraries="system${LIBRARY:+ rai}"
for server in $peers_libraries; do for client in $peers_libraries; do
	for devices in 'none none' 'none 15b3:7' '15b3:d none' '15b3:d 15b3:7' '10df:d 15b3:7'; do
		# shellcheck disable=SC2086
		set -- $devices
		name=peers/$server-$1-$client-$2
		if peers_rping "$OUT/$name" $server "$1" $client "$2" > "$OUT/$name.log" 2>&1; then
			ok "$name"
		else
			not_ok "$name" "$(tail -n 1 "$OUT/$name.log")"
		fi
	done
done; done
