# SPDX-License-Identifier: BSD-2-Clause
# Link-local addresses on two links, and two network namespaces.
layout_links
LD_LIBRARY_PATH=$LIBRARY tap links/scope 100 "${PROGRAMS}scope"
layout_clear

layout_netns
ip -n far link add x0 type dummy
ip -n far link set x0 up
ip -n far addr add 10.6.0.1/24 dev x0
mkdir -p /etc/netns/far
echo "nameserver 127.0.0.1" > /etc/netns/far/resolv.conf
ip netns exec far dnsmasq --no-hosts --no-resolv --pid-file=/run/far.pid --host-record=here.far,10.5.0.2
# Soft-RoCE sends and receives in other namespaces than the first since Linux 7.
[ "$KERNEL" = bookworm ] || export VM_NETNS=yes
LD_LIBRARY_PATH=$LIBRARY tap links/netns 100 "${PROGRAMS}netns"
unset VM_NETNS
kill "$(cat /run/far.pid)"
