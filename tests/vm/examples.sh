#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# examples.sh FOLDER: the programs in examples/, server and client, connected by names of the guest's zone. For each test
# prints "ok NAME" or "not ok NAME # why".
set -uo pipefail
examples=${1:?usage: examples.sh FOLDER}
failed=0

# verdict NAME STATUS WHY
verdict() {
	[ "$2" != 0 ] || { echo "ok $1"; return; }
	echo "not ok $1 # $3"
	failed=1
}

# Starts a server for so many clients; $port tells where, and $server its process.
server_start() {
	exec 3< <(exec "$examples/server" -n "$1" 0)
	server=$!
	read -r _ _ _ port <&3
}

# client NAME TEXT: the server at that name gives the text back.
client() { said=$("$examples/client" "$1" "$port" "$2" 2>&1) && [ "$said" = "$2" ]; }

server_start 4
client near.rdma 'by name'
verdict test_example_client_by_name_gets_its_message_back $? "said: $said"
client two.rdma 'two addresses'
verdict test_example_client_of_a_name_with_an_address_that_no_device_reaches_is_served $? "said: $said"
client 10.2.0.1 "$(printf 'x%.0s' $(seq 255))"
verdict test_example_client_with_the_longest_message_is_served $? "said: $said"
client fd02::1 'by IPv6'
verdict test_example_server_listens_for_both_families $? "said: $said"
wait "$server"
verdict test_example_server_ends_after_its_clients $? "status $?"

said=$("$examples/client" near.rdma "$port" unheard 2>&1)
[ $? = 1 ] && [[ $said == *RDMA_CM_EVENT_REJECTED* ]]
verdict test_example_client_without_a_server_says_why $? "said: $said"
said=$("$examples/client" nobody.rdma "$port" unheard 2>&1)
[ $? = 1 ] && [[ $said == *RDMA_CM_EVENT_ADDRINFO_ERROR:*'no such name'* ]]
verdict test_example_client_of_an_unknown_name_says_why $? "said: $said"
exit $failed
