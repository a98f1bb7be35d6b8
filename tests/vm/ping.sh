#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# ping.sh BUILD: rai ping and its server, connected by names of the guest's zone; and what rai doctor and rai explain say of
# its devices. For each test prints "ok NAME" or "not ok NAME # why".
set -uo pipefail
build=${1:?usage: ping.sh BUILD}
rai=$build/cli/rai
failed=0

# verdict NAME STATUS WHY
verdict() {
	[ "$2" != 0 ] || { echo "ok $1"; return; }
	echo "not ok $1 # $(tr '\n' ' ' <<< "$3")"
	failed=1
}

# Starts a server with these options; $port tells where, and $server its process.
server_start() {
	exec 3< <(exec "$rai" ping --server "$@" 2>&1)
	server=$!
	read -r _ _ _ port <&3
}

# pings STATUS ARGUMENT...: $said is what both streams had.
pings() {
	local want=$1 rc=0
	shift
	said=$("$rai" ping "$@" 2>&1) || rc=$?
	[ "$rc" = "$want" ] || { said="status $rc: $said"; return 1; }
}
has() { grep -qE -- "$1" <<< "$said"; }

server_start -c 4 0
pings 0 near.rdma "$port" -c 3 -i 0 && has "^near.rdma \(10\.2\.0\.1\) $port, 64 bytes, from [0-9.]+ through [a-z0-9_]+/1$" &&
	has '^resolve +[0-9.]+ ms$' && has '^address +[0-9.]+ ms$' && has '^route +[0-9.]+ ms$' &&
	has '^connect +[0-9.]+ ms$' && has '^64 bytes back, number 3: [0-9.]+ us$' && has '^disconnect +[0-9.]+ ms$' &&
	has '^3 sent, 3 back$' && has '^round trip in us: shortest [0-9.]+, 50 % [0-9.]+, 99 % [0-9.]+, longest [0-9.]+$'
verdict test_ping_by_name_tells_each_step_and_each_message $? "said: $said"
pings 0 two.rdma "$port" -q -c 20 -i 0 && has '^20 sent, 20 back$' && ! has 'bytes back, number'
verdict test_ping_of_a_name_with_an_address_that_no_device_reaches_comes_back $? "said: $said"
pings 0 10.2.0.1 "$port" --json -c 1 -s 1048576 && has '"version": 1' && has '"back": 1' && has '"failure": null' &&
	has '"median_us": [0-9.]+' && has '"size": 1048576'
verdict test_ping_with_the_largest_message_comes_back_and_is_one_object $? "said: $said"
exec 4< <(exec "$rai" ping near.rdma "$port" -c 0 -i 20ms 2>&1)
client=$!
while read -r line <&4 && [[ $line != *'number 3:'* ]]; do :; done
kill -INT "$client"
said=$(cat <&4)
wait "$client"
verdict test_ping_that_is_stopped_disconnects $? "status $?"
has '^disconnect +[0-9.]+ ms$' && has '^[0-9]+ sent, [0-9]+ back$'
verdict test_ping_that_is_stopped_tells_what_came $? "said: $said"
wait "$server"
verdict test_ping_server_ends_after_its_clients $? "status $?"
said=$(cat <&3)
has '^10\.2\.0\.[0-9]+: connected, 64 bytes a message$' && has ': disconnected after 20 messages$'
verdict test_ping_server_tells_of_its_clients $? "said: $said"

pings 3 near.rdma "$port" && has 'rai ping: connect: refused: .* \(-ECONNREFUSED\); at the other host: rai ping --server SERVICE$'
verdict test_ping_without_a_server_says_why_and_what_to_do $? "said: $said"
pings 1 nobody.rdma "$port" && has 'rai ping: resolve: .*no such name'
verdict test_ping_of_an_unknown_name_says_why $? "said: $said"

# Who isn't of this kind is told so, at both ends.
exec 5< <(exec "$build/examples/server" 0)
other=$!
read -r _ _ _ port <&5
pings 3 near.rdma "$port" && has "who answers there is no 'rai ping --server'"
verdict test_ping_of_another_server_says_so $? "said: $said"
kill "$other"
server_start 0
pings 3 --server "$port" && has '^rai ping: listening: somebody listens at that port already$'
verdict test_ping_server_at_a_port_that_is_taken_says_so $? "said: $said"
said=$("$build/examples/client" near.rdma "$port" hello 2>&1)
[ $? = 1 ] && has RDMA_CM_EVENT_REJECTED
verdict test_ping_server_refuses_another_client $? "said: $said"

# A server that is gone, with no word of it.
exec 4< <(exec "$rai" ping near.rdma "$port" -c 0 -i 20ms -t 3 2>&1)
client=$!
while read -r line <&4 && [[ $line != *'number 2:'* ]]; do :; done
kill -KILL "$server"
said=$(cat <&4)
wait "$client"
[ $? = 3 ] && has '^rai ping: '
verdict test_ping_whose_server_is_killed_ends_and_says_so $? "said: $said"

server_start 0
kill -TERM "$server"
wait "$server"
verdict test_ping_server_that_is_stopped_ends_with_0 $? "status $?"

# What the guest's devices are to the other commands.
said=$("$rai" doctor 2>&1)
has '^OK +node +/dev/infiniband/rdma_cm$' && has '^OK +node +/dev/infiniband/uverbs0$' &&
	has '^OK +modules +rdma_ucm ib_uverbs$' && has '^OK +port +[a-z0-9_]+/1, Ethernet, ACTIVE, [a-z0-9]+$' &&
	! has '^WARNING +device'
verdict test_doctor_finds_the_devices_in_order $? "said: $said"
said=$("$rai" explain near.rdma 7471 2>&1)
has ' 1\. 10\.2\.0\.1, port 7471, from 10\.2\.0\.[0-9]+; RDMA device [a-z0-9_]+/1$'
verdict test_explain_names_the_device_that_leads_to_an_address $? "said: $said"
exit $failed
