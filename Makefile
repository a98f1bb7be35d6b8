# SPDX-License-Identifier: BSD-2-Clause
# A door to Meson: make, make check, make demo, make bench, make install DESTDIR= PREFIX=, make clean.

PREFIX ?= /usr/local
BUILD ?= build

.PHONY: all deps check check-vm demo bench bench-vm install clean

all: $(BUILD)/build.ninja
	@ninja -C $(BUILD)

$(BUILD)/build.ninja: | deps
	@meson setup $(BUILD) --prefix=$(PREFIX)

# Installs what is missing (Debian); does nothing, and needs no root, where all is there.
deps:
	@scripts/install-deps

check: all
	@BUILD=$(BUILD) scripts/check

check-vm: all
	@tests/vm/run

demo: all
	@BUILD=$(BUILD) scripts/demo

bench: all
	@BUILD=$(BUILD) scripts/bench

bench-vm: all
	@bench/vm-run

# The loader finds a new library by its cache; a package's own scripts see to that for DESTDIR.
install: all
	@meson configure $(BUILD) --prefix=$(PREFIX)
	@DESTDIR=$(DESTDIR) meson install -C $(BUILD)
	@[ -n "$(DESTDIR)" ] || [ "$$(id -u)" != 0 ] || /sbin/ldconfig

clean:
	@rm -rf $(BUILD) build-*
