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
# Soft-RoCE sends and receives in other namespaces than the first since Linux 7: no connections between them before.
netns=(test_address_without_device_in_namespace_is_told test_name_in_namespace_is_resolved_by_its_own_servers)
[ "$KERNEL" = bookworm ] || netns=()
LD_LIBRARY_PATH=$LIBRARY tap links/netns 100 "${PROGRAMS}netns" "${netns[@]}"
kill "$(cat /run/far.pid)"
