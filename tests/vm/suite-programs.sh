# SPDX-License-Identifier: BSD-2-Clause
# More of Debian's programs than the suite "compat" has, on the system's librdmacm and on the one under test, in the same
# guest: all that links to librdmacm there. Those that the host lacks are laid over the guest's /usr (fetch-programs).
#
# What each is, for docs/compatibility.md (scripts/vm/compat-table):
#: ib_send_lat `ib_send_lat -R`, RC
#: ib_send_lat_ud UD
#: ib_send_bw_both `ib_send_bw -R -b`, both ways at once
#: ib_send_bw_qps four queue pairs (`-q 4`)
#: ib_send_bw_tos with a type of service (`-T`)
#: ib_send_bw_exchange `-z`, only the exchange of data about the queue pairs by rdmacm
#: ib_write_bw `ib_write_bw -R`
#: ib_read_bw `ib_read_bw -R`
#: ib_read_lat `ib_read_lat -R`
#: ib_atomic_bw `ib_atomic_bw -R`
#: ib_atomic_lat `ib_atomic_lat -R`
#: qperf_rdma `qperf -cm 1`, RDMA read and write, both ways
#: qperf_atomic atomic operations
#: fi_info `fi_info -p verbs`: the same text on both
#: fi_pingpong_large `fi_pingpong -S 65536`, connected endpoints
#: fi_pingpong_rdm_large datagram endpoints (rxm)
#: fio_send `fio`, engine rdma, send
#: fio_write RDMA write
#: fio_read RDMA read
#: dapltest_send `dapltest` over libdaplofa, SR
#: dapltest_write RW
#: dapltest_read RR
#: dtest `dtest`
#: dtestcm `dtestcm`, the connection manager alone
#: iscsi_inq `tgtd`'s iSER, `iscsi-inq`
#: iscsi_capacity `iscsi-readcapacity16`
#: qemu_migrate QEMU, a guest that runs migrates by `rdma:`
#: qemu_migrate_pinned with its memory pinned
#: ceph_mon `ceph-mon` and `ceph -s`, messenger async+rdma with rdmacm
#: ucx_io_demo UCX's `io_demo`, as above, ten times
#: rping_clients `rping -P`, as above, ten times
#
#! Where there are counts, it fails now and then on any library. `dtest` exchanges by TCP what its ends need, and doesn't come
#! to it. `fabtests` is in no package of any suite of Debian, and that of librpma has no program.
. "$TESTS/both.sh"
PROGRAMS_HELP=$TESTS/programs

# perf PROGRAM OPTION...
perf() { cm 40 "$@" -R -F -n 100 -- "$@" -R -F -n 100 $A4; }
ib_send_lat() { perf ib_send_lat; }
ib_send_lat_ud() { perf ib_send_lat -c UD -s 1024; }
ib_send_bw_both() { perf ib_send_bw -b -s 4096; }
ib_send_bw_qps() { perf ib_send_bw -q 4 -s 4096; }
ib_send_bw_tos() { perf ib_send_bw -T 32 -s 4096; }
ib_send_bw_exchange() { cm 40 ib_send_bw -z -F -n 100 -- ib_send_bw -z -F -n 100 $A4; }
ib_write_bw() { perf ib_write_bw -s 4096; }
ib_read_bw() { perf ib_read_bw -s 4096; }
ib_read_lat() { perf ib_read_lat; }
ib_atomic_bw() { perf ib_atomic_bw; }
ib_atomic_lat() { perf ib_atomic_lat; }

qperf_of() { endless tcp 60 19765 qperf -- qperf $A4 -cm 1 -t 1 "$@"; }
qperf_rdma() { qperf_of rc_bi_bw rc_rdma_read_bw rc_rdma_read_lat rc_rdma_write_bw rc_rdma_write_lat; }
qperf_atomic() { qperf_of rc_compare_swap_mr rc_fetch_add_mr ver_rc_compare_swap ver_rc_fetch_add; }

fi_info() {
	timeout 20 /usr/bin/fi_info -p verbs -v > "$OUT/programs/fi_info.said" || return
	grep -c '^fi_info:' "$OUT/programs/fi_info.said" || return
	# Pointers and the number of the process differ from run to run.
	[ -n "$LD_LIBRARY_PATH" ] || { cp "$OUT/programs/fi_info.said" "$OUT/programs/fi_info.due"; return; }
	diff "$OUT/programs/fi_info.due" "$OUT/programs/fi_info.said"
}
fi_pingpong_large() { fabric -p verbs -e msg -I 20 -S 65536; }
fi_pingpong_rdm_large() { FI_UNIVERSE_SIZE=2 fabric -p 'verbs;ofi_rxm' -e rdm -I 20 -S 65536; }
fabric() { tcp 60 47592 fi_pingpong "$@" -- fi_pingpong "$@" $A4; }

# fio_of VERB
fio_of() {
	local common=(fio --name=end --ioengine=rdma --port=7500 --bs=64k --size=8m --thread --eta=never)
	cm 60 "${common[@]}" --rw=read --iodepth=16 -- \
		"${common[@]}" --hostname=$A4 --verb="$1" --rw=write --iodepth=4 --iodepth_batch_complete=1
}
fio_send() { fio_of send; }
fio_write() { fio_of write; }
fio_read() { fio_of read; }

# dapl_test OPERATION: server and client of the provider that uses librdmacm.
dapl_test() {
	export DAT_OVERRIDE=/tmp/dat.conf
	endless cm 40 dapltest -T S -D rdmacm -- \
		dapltest -T T -D rdmacm -s $A4 -i 20 -t 1 -w 1 client "$1" 1024 1 server "$1" 1024 1 client SR 256 1 server SR 256 1
}
dapltest_send() { dapl_test SR; }
dapltest_write() { dapl_test RW; }
dapltest_read() { dapl_test RR; }
dtest() { DAT_OVERRIDE=/tmp/dat.conf tcp 30 15828 /usr/bin/dtest -P rdmacm -- /usr/bin/dtest -P rdmacm -h $A4; }
dtestcm() { DAT_OVERRIDE=/tmp/dat.conf cm 30 /usr/bin/dtestcm -P rdmacm -b 10 -c 10 -- /usr/bin/dtestcm -P rdmacm -b 10 -c 10 -h $A4; }

# iscsi TOOL: a disk of tgtd's, seen by a client of libiscsi.
iscsi() {
	local pid status=0 target=iqn.2026-01.test:disk
	sysctl -qw vm.nr_hugepages=80
	truncate -s 16M /tmp/disk
	# The admin's program speaks to it by a socket there.
	mkdir -p /run/tgtd
	timeout -k 1 60 tgtd -f --iser pool_sz_mb=128 < /dev/null &
	pid=$!
	wait_for 10 tgtadm --op show --mode sys
	tgtadm --lld iser --mode target --op new --tid 1 -T $target &&
		tgtadm --lld iser --mode logicalunit --op new --tid 1 --lun 1 -b /tmp/disk &&
		tgtadm --lld iser --mode target --op bind --tid 1 -I ALL &&
		tgtadm --lld iser --mode target --op bind --tid 1 -Q iqn.2026-01.test:one &&
		wait_for 10 has_listener &&
		timeout -k 1 30 "$@" -i iqn.2026-01.test:one "iser://$A4:3260/$target/1" || status=$?
	tgtadm --op delete --mode system || kill $pid
	wait_for 10 gone $pid || kill -KILL $pid
	wait $pid
	return $status
}
gone() { ! kill -0 "$1" 2>/dev/null; }
iscsi_inq() { iscsi iscsi-inq; }
iscsi_capacity() { iscsi iscsi-readcapacity16; }

qemu_migrate() { timeout -k 1 120 python3 "$PROGRAMS_HELP/migrate" $A4 "$@"; }
qemu_migrate_pinned() { qemu_migrate rdma-pin-all; }

ceph_mon() {
	local dir=/tmp/ceph pid status=0
	rm -rf $dir
	mkdir -p $dir/run
	cat > $dir/conf <<-END
	[global]
	fsid = 6a1c7c4e-2f8d-4f5e-9c1a-0d2b3c4d5e6f
	mon host = v1:$A4:6789
	mon initial members = a
	auth cluster required = none
	auth service required = none
	auth client required = none
	ms type = async+rdma
	ms async rdma device name = rxe0
	ms async rdma cm = true
	ms async rdma type = iwarp
	ms async rdma receive buffers = 256
	ms async rdma receive queue len = 256
	ms async rdma send buffers = 256
	mon data = $dir/mon
	run dir = $dir/run
	log file = $dir/log
	mon cluster log file = $dir/cluster
	admin socket = $dir/run/asok
	END
	ceph-mon -c $dir/conf --mkfs -i a --mon-data $dir/mon || return
	timeout -k 1 100 ceph-mon -c $dir/conf -f -i a < /dev/null &
	pid=$!
	wait_for 20 has_listener
	timeout -k 1 60 ceph -c $dir/conf --connect-timeout 50 -s || status=$?
	kill $pid
	wait $pid
	tail -n 20 $dir/log
	return $status
}

# How often, for what fails now and then on any library.
declare -A PROGRAMS_TIMES=([ucx_io_demo]=10 [rping_clients]=10)
PROGRAMS_ALL="ib_send_lat ib_send_lat_ud ib_send_bw_both ib_send_bw_qps ib_send_bw_tos ib_send_bw_exchange ib_write_bw
	ib_read_bw ib_read_lat ib_atomic_bw ib_atomic_lat qperf_rdma qperf_atomic fi_info
	fi_pingpong_large fi_pingpong_rdm_large fio_send fio_write fio_read dapltest_send dapltest_write dapltest_read dtest
	dtestcm iscsi_inq iscsi_capacity qemu_migrate qemu_migrate_pinned ceph_mon ucx_io_demo
	rping_clients"

# Over /usr with the modules below it, and read-only.
mount -t overlay -o "lowerdir=$TOP/.cache/vm/programs/root/usr:/usr" programs /usr
layout_one
echo 'rdmacm u2.0 nonthreadsafe default libdaplofa.so.2 dapl.2.0 "v0 0" ""' > /tmp/dat.conf
ulimit -l unlimited
for program in ${TESTS_ONLY:-$PROGRAMS_ALL}; do
	both programs "$program" "${PROGRAMS_TIMES[$program]:-1}"
done
umount -l /usr
