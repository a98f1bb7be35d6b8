# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# The name servers of the test world: a configuration, a start and a question each. Sourced.

: "${dir:?}" "${top:?}"

# shellcheck source=scripts/servers.sh
. "$top/scripts/servers.sh"

declare -A address=([nsd]=127.0.0.2 [dnsmasq]=127.0.0.3 [unbound]=127.0.0.4 [liar]=127.0.0.5)

# The authority for rai.test and bench.test, also reached by IPv6 and by a scoped address.
conf_nsd() {
	cat <<-END
	server:
	    ip-address: ${address[nsd]}
	    ip-address: ::1
	    ip-address: fe80::53%rai0
	    server-count: 1
	    username: ""
	    chroot: ""
	    database: ""
	    zonesdir: "$dir"
	    zonelistfile: "$dir/nsd.zones"
	    xfrdfile: "$dir/nsd.xfrd"
	    xfrdir: "$dir"
	    pidfile: ""
	    hide-version: yes
	    rrl-ratelimit: 0
	    rrl-whitelist-ratelimit: 0
	remote-control:
	    control-enable: no
	zone:
	    name: rai.test
	    zonefile: rai.test.zone
	zone:
	    name: bench.test
	    zonefile: bench.test.zone
	END
}
run_nsd() { servers_use; exec nsd -d -c "$dir/nsd.conf"; }

# A forwarder with a cache, as in a home router. -d keeps it from changing to a user that an
# unprivileged user namespace lacks.
conf_dnsmasq() {
	cat <<-END
	listen-address=${address[dnsmasq]}
	bind-interfaces
	no-resolv
	no-hosts
	no-dhcp-interface=lo
	cache-size=1000
	dns-forward-max=10000
	local-ttl=30
	server=/rai.test/${address[nsd]}
	server=/bench.test/${address[nsd]}
	address=/own.rai.test/192.0.2.200
	END
}
run_dnsmasq() { servers_use; exec dnsmasq -d -C "$dir/dnsmasq.conf"; }

# A recursor with a cache. Beside the zones of this world nothing exists: there is no root to be asked, and each such
# question would take half a minute.
conf_unbound() {
	cat <<-END
	server:
	    interface: ${address[unbound]}
	    access-control: 127.0.0.0/8 allow
	    do-not-query-localhost: no
	    do-daemonize: no
	    use-syslog: no
	    chroot: ""
	    username: ""
	    directory: "$dir"
	    pidfile: ""
	    module-config: "iterator"
	    local-zone: "." static
	    local-zone: "test." transparent
	    num-threads: 1
	    qname-minimisation: no
	remote-control:
	    control-enable: no
	stub-zone:
	    name: "rai.test"
	    stub-addr: ${address[nsd]}
	stub-zone:
	    name: "bench.test"
	    stub-addr: ${address[nsd]}
	END
}
run_unbound() { servers_use; exec unbound -d -c "$dir/unbound.conf"; }

# Answers by the name asked; see tests/dns/liar.c.
conf_liar() { :; }
run_liar() { exec "${RAI_LIAR:-${RAI_BUILD:-$top/build}/tests/dns/liar}" "${address[liar]}"; }

server_start() {
	local s=$1 var=${1^^}
	"conf_$s" >"$dir/$s.conf"
	# A process group of its own, so that one signal stops and continues all of the server.
	set -m
	"run_$s" >"$dir/$s.log" 2>&1 &
	set +m
	export "RAI_DNS_$var=${address[$s]}" "RAI_DNS_${var}_PGRP=$!"
	disown
}

# Readiness is an answer. glibc returns at once while the port is closed.
server_await() {
	local s=$1 pgrp="RAI_DNS_${1^^}_PGRP" end=$((SECONDS + 20))
	echo "nameserver ${address[$s]}" >/etc/resolv.conf
	until RES_OPTIONS='timeout:1 attempts:1' getent -s dns ahostsv4 ready.rai.test >/dev/null; do
		if [ $SECONDS -ge $end ] || ! kill -0 "-${!pgrp}" 2>/dev/null; then
			echo "world: $s does not answer:" >&2
			tail -5 "$dir/$s.log" >&2
			exit 1
		fi
		read -rt 0.01 <> <(:) || true
	done
}
