# SPDX-License-Identifier: BSD-2-Clause
# From names to connections, with a name server in the guest.
layout_one
ip link add x0 type dummy
ip link set x0 up
ip addr add 192.0.2.1/24 dev x0
# two.rdma: first an address on a network without RDMA. What isn't in the zone goes where nobody answers.
dnsmasq --no-hosts --no-resolv --pid-file=/run/names.pid --local=/rdma/ --server=192.0.2.99 \
	--host-record=near.rdma,10.2.0.1 --host-record=two.rdma,192.0.2.9 --host-record=two.rdma,10.2.0.1
rm -f /etc/resolv.conf
echo "nameserver 127.0.0.1" > /etc/resolv.conf
echo "hosts: files dns" > /etc/nsswitch.conf
LD_LIBRARY_PATH=$LIBRARY tap names 100 "${PROGRAMS}names"
[ -z "$LIBRARY" ] || LD_LIBRARY_PATH=$LIBRARY tap names 300 "$TESTS/examples.sh" "$LIBRARY/../examples"
[ -z "$LIBRARY" ] || LD_LIBRARY_PATH=$LIBRARY tap names 300 "$TESTS/ping.sh" "$LIBRARY/.."
kill "$(cat /run/names.pid)"
