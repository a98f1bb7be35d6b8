// SPDX-License-Identifier: BSD-2-Clause

// Go's netpoll on a channel's descriptor: each event wakes the goroutine that waits for it.
package main

/*
#cgo LDFLAGS: -lrdmacm
#include <errno.h>
#include <rdma/rdma_cma.h>

static int take(struct rdma_event_channel *channel)
{
	struct rdma_cm_event *event;

	if (rdma_get_cm_event(channel, &event))
		return errno == EAGAIN ? 0 : -1;
	rdma_ack_cm_event(event);
	return 1;
}

static int write_user(struct rdma_cm_id *id)
{
	return rdma_write_cm_event(id, RDMA_CM_EVENT_USER, 0, 1);
}

static int resolve(struct rdma_cm_id *id)
{
	return rdma_resolve_addrinfo(id, "192.0.2.1", NULL, NULL);
}
*/
import "C"

import (
	"fmt"
	"os"
	"syscall"
	"time"
)

const (
	rounds = 200
	limit  = 5 * time.Second
)

func fail(what string, err error) {
	fmt.Println("not ok netpoll #", what, err)
	os.Exit(1)
}

// cause makes as many events as the round's number says, of both kinds.
func cause(id *C.struct_rdma_cm_id, round int) int {
	if round%2 == 0 {
		if C.resolve(id) != 0 {
			fail("rdma_resolve_addrinfo", nil)
		}
		return 1
	}
	for i := 0; i <= round%3; i++ {
		if C.write_user(id) != 0 {
			fail("rdma_write_cm_event", nil)
		}
	}
	return round%3 + 1
}

func main() {
	channel := C.rdma_create_event_channel()
	var id *C.struct_rdma_cm_id
	if channel == nil || C.rdma_create_id(channel, &id, nil, C.RDMA_PS_TCP) != 0 {
		fail("no channel", nil)
	}
	if err := syscall.SetNonblock(int(channel.fd), true); err != nil {
		fail("O_NONBLOCK", err)
	}
	file := os.NewFile(uintptr(channel.fd), "channel")
	conn, err := file.SyscallConn()
	if err != nil {
		fail("no netpoll", err)
	}
	for round := 0; round < rounds; round++ {
		due := make(chan int)
		go func() { due <- cause(id, round) }()
		taken := 0
		// Until EAGAIN; then netpoll waits for the next edge.
		wait := func(wanted int) {
			if err := file.SetReadDeadline(time.Now().Add(limit)); err != nil {
				fail("no deadline: not in netpoll", err)
			}
			err := conn.Read(func(uintptr) bool {
				for {
					switch C.take(channel) {
					case 1:
						taken++
					case 0:
						return taken >= wanted
					default:
						fail("rdma_get_cm_event", nil)
					}
				}
			})
			if err != nil {
				fail("an event is due, and nobody was woken:", err)
			}
		}
		wait(1)
		if wanted := <-due; taken < wanted {
			wait(wanted)
		}
	}
	fmt.Println("ok netpoll")
}
