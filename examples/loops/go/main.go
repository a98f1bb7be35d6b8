// SPDX-License-Identifier: BSD-2-Clause

// Names in Go: the goroutine that waits for the channel is parked by netpoll, and holds no thread. usage: names NAME...
package main

/*
#cgo LDFLAGS: -lrdmacm
#include <rdma/rdma_cma.h>
#include "../names.c"
*/
import "C"

import (
	"log"
	"os"
)

func main() {
	channel := C.names_channel()
	file := os.NewFile(uintptr(channel.fd), "channel") // its descriptor doesn't block, so that netpoll has it
	conn, err := file.SyscallConn()
	if err != nil {
		log.Fatal(err)
	}
	left := C.int(0)
	for _, name := range os.Args[1:] {
		name := C.CString(name) // the id's context, for as long as the id lives
		left = C.names_start(channel, 1, &name)
	}
	// The function is called at once, and again after each wake-up until it returns true.
	err = conn.Read(func(uintptr) bool {
		if left > 0 {
			left = C.names_take(channel)
		}
		return left == 0
	})
	if err != nil {
		log.Fatal(err)
	}
	C.fflush(C.stdout) // Go's exit does not
}
