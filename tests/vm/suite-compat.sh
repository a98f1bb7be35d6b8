# SPDX-License-Identifier: BSD-2-Clause
# Debian's own programs, on the system's librdmacm and on the one under test, in the same guest.
#
# Each program is a function that runs a server and its client. A program passes when the library under test gives the
# result that the system's gives here, or a better one.
#
# What each is, for docs/compatibility.md (scripts/vm/compat-table):
#: rping_v4 `rping`, 10 verified pings over IPv4
#: rping_v6 over IPv6
#: rping_any server on the wildcard address
#: rping_name by name
#: rping_source client bound to a source address (`-I`)
#: rping_own_qp queue pairs moved by the program (`-q`)
#: rping_link_local link-local address with scope
#: rping_refused no server: the client is refused
#: rping_clients persistent server (`-P`), four clients at once
#: ucmatose_one `ucmatose`, one connection
#: ucmatose_many ten connections
#: ucmatose_v6 over IPv6
#: ucmatose_name by name
#: ucmatose_migrate ids moved to another channel (`-m`)
#: udaddy_one `udaddy`, datagrams
#: udaddy_many ten connections
#: udaddy_v6 over IPv6
#: mckey_pair `mckey`, multicast, receiver and sender in one guest
#: mckey_sender sender alone
#: rdma_client_server `rdma_client` and `rdma_server`
#: rdma_xclient_xserver `rdma_xclient` and `rdma_xserver`, RC
#: rdma_xclient_xserver_xrc XRC
#: cmtime_pair `cmtime`, 50 connections
#: ib_send_bw_R `ib_send_bw -R`, RC
#: ib_send_bw_R_ud UD
#: ib_write_lat_R `ib_write_lat -R`
#: ucx_perftest_tag `ucx_perftest`, connection manager rdmacm opened, data by TCP
#: ucx_io_demo UCX's `io_demo`, connected by rdmacm, data by RC
#: fi_pingpong_msg `fi_pingpong` over verbs, connected endpoints
#: fi_pingpong_rdm datagram endpoints (rxm)
#: qperf_cm `qperf -cm 1`, RC latency and bandwidth
#
#! XRC fails because Soft-RoCE has no XRC queue pairs. `mckey`'s receiver waits for ever on the newest kernel, mostly, on
#! either library. UCX's own wire-up over UD, which `ucx_perftest` would use for RC, does not end over Soft-RoCE, so that
#! `io_demo` stands in for it; it asserts now and then as it ends. What passes on the system's library and not on ours runs ten
#! times on each: some programs fail now and then on both, such as `rping -P` with four clients at once.
#!
#! Where Soft-RoCE lacks what a device may have, a shim before libibverbs plays it (`tests/vm/run peers`): ECE options
#! of one vendor, of two, or none, under `rping` with either library at each end; iWARP, of which the states of the
#! queue pairs show; XRC, whose connections are made and carry no data.
#!
#! Where ibacm runs, librdmacm asks it too, and puts its AF_IB result before those of IP. Ours asks nobody but the host's
#! sources of names: a server that is bound to an IP address refuses a client that comes by AF_IB.
#!
#! rdma-core's Python package, pyverbs, runs on the library unchanged, and passes rdma-core's own tests of its connection
#! manager (`tests/vm/run pyverbs`).

. "$TESTS/both.sh"

rping_v4() { cm 10 rping -s -a $A4 -C 10 -V -- rping -c -a $A4 -C 10 -V; }
rping_v6() { cm 10 rping -s -a $A6 -C 10 -V -- rping -c -a $A6 -C 10 -V; }
rping_any() { cm 10 rping -s -a 0.0.0.0 -C 10 -V -- rping -c -a $A4 -C 10 -V; }
rping_name() { cm 10 rping -s -a near.rdma -C 10 -V -- rping -c -a near.rdma -C 10 -V; }
rping_source() { cm 10 rping -s -a $A4 -C 10 -V -- rping -c -I $A4 -a $A4 -C 10 -V; }
rping_own_qp() { cm 10 rping -s -q -a $A4 -C 10 -V -- rping -c -q -a $A4 -C 10 -V; }
rping_link_local() { cm 10 rping -s -a fe80::1%v0 -C 10 -V -- rping -c -a fe80::1%v0 -C 10 -V; }
rping_refused() { ! timeout 5 rping -c -a $A4 -C 1 -p 7999 || return 1; }
ucmatose_one() { cm 15 ucmatose -b $A4 -- ucmatose -s $A4; }
ucmatose_many() { cm 20 ucmatose -b $A4 -c 10 -C 5 -- ucmatose -s $A4 -c 10 -C 5; }
ucmatose_v6() { cm 15 ucmatose -f ipv6 -b $A6 -- ucmatose -f ipv6 -s $A6; }
ucmatose_name() { cm 15 ucmatose -f name -b near.rdma -- ucmatose -f name -s near.rdma; }
ucmatose_migrate() { cm 15 ucmatose -m -b $A4 -c 4 -- ucmatose -m -s $A4 -c 4; }
udaddy_one() { cm 15 udaddy -b $A4 -- udaddy -s $A4; }
udaddy_many() { cm 20 udaddy -b $A4 -c 10 -- udaddy -s $A4 -c 10; }
udaddy_v6() { cm 15 udaddy -f ipv6 -b $A6 -- udaddy -f ipv6 -s $A6; }
mckey_pair() { pair 12 mckey_joined mckey -m 239.1.2.3 -b $A4 -- mckey -s -m 239.1.2.3 -b $A4; }
mckey_joined() { ip maddr show dev v0 | grep 239.1.2.3 > /dev/null || sleep 1; }
mckey_sender() { timeout 12 mckey -s -m 239.1.2.3 -b $A4; }
rdma_client_server() { cm 10 rdma_server -p 7471 -- rdma_client -s $A4 -p 7471; }
rdma_xclient_xserver() { cm 10 rdma_xserver -p 7472 -- rdma_xclient -s $A4 -p 7472; }
rdma_xclient_xserver_xrc() { cm 10 rdma_xserver -p 7472 -c x -- rdma_xclient -s $A4 -p 7472 -c x; }
cmtime_pair() { endless cm 30 cmtime -b $A4 -- cmtime -s $A4 -c 50; }
ib_send_bw_R() { tcp 30 18515 ib_send_bw -R -F -n 200 -s 4096 -- ib_send_bw -R -F -n 200 -s 4096 $A4; }
ib_send_bw_R_ud() { tcp 30 18515 ib_send_bw -R -F -c UD -n 200 -s 1024 -- ib_send_bw -R -F -c UD -n 200 -s 1024 $A4; }
ib_write_lat_R() { tcp 30 18515 ib_write_lat -R -F -n 200 -- ib_write_lat -R -F -n 200 $A4; }
ucx_perftest_tag() {
	export UCX_NET_DEVICES=v0 UCX_TLS=tcp
	ucx_rdmacm tcp 30 13337 ucx_perftest -t tag_lat -n 200 -w 20 -- ucx_perftest $A4 -t tag_lat -n 200 -w 20
}
fi_pingpong_msg() { tcp 30 47592 fi_pingpong -p verbs -e msg -I 50 -S 1024 -- fi_pingpong -p verbs -e msg -I 50 -S 1024 $A4; }
fi_pingpong_rdm() {
	export FI_UNIVERSE_SIZE=2	# the default wants a longer completion queue than Soft-RoCE has
	tcp 30 47592 fi_pingpong -p 'verbs;ofi_rxm' -e rdm -I 50 -S 1024 -- fi_pingpong -p 'verbs;ofi_rxm' -e rdm -I 50 -S 1024 $A4
}
qperf_cm() { endless tcp 30 19765 qperf -- qperf $A4 -cm 1 -t 1 rc_lat rc_bw; }

COMPAT="rping_v4 rping_v6 rping_any rping_name rping_source rping_own_qp rping_link_local rping_refused rping_clients
	ucmatose_one ucmatose_many ucmatose_v6 ucmatose_name ucmatose_migrate udaddy_one udaddy_many udaddy_v6
	mckey_pair mckey_sender rdma_client_server rdma_xclient_xserver rdma_xclient_xserver_xrc cmtime_pair
	ib_send_bw_R ib_send_bw_R_ud ib_write_lat_R ucx_perftest_tag ucx_io_demo fi_pingpong_msg fi_pingpong_rdm qperf_cm"

layout_one
echo "10.2.0.1 near.rdma" >> /etc/hosts
for program in ${TESTS_ONLY:-$COMPAT}; do
	both compat "$program"
done
