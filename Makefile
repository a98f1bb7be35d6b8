# SPDX-License-Identifier: BSD-2-Clause
# A door to Meson: "make help" lists what there is.

BUILD ?= build
export BUILD PREFIX LIBDIR DESTDIR TIME COUNT SEED
# What root builds in a user's clone is the user's: every recipe goes through scripts/owned.

.PHONY: all help deps check test fuzz mutate soak check-vm check-arch check-compilers demo bench bench-vm html install uninstall dist deb check-deb rpm container clean

all:
	@scripts/owned scripts/build

help:
	@echo 'make             builds library, command and examples'
	@echo 'make demo        shows what it does, on real servers in namespaces of their own'
	@echo 'make test        the tests, in a plain build'
	@echo 'make check       every test, also under the sanitizers'
	@echo 'make fuzz        searches for inputs that do harm, TIME=60 seconds a target'
	@echo 'make mutate      changes the source in COUNT=100 places, one by one: does a test notice?'
	@echo 'make soak        steady load while faults come and go, TIME=3600 seconds'
	@echo 'make check-vm    the tests in guests with Soft-RoCE'
	@echo 'make check-arch  the unit tests on other processors, emulated; make check-compilers: with newer compilers (as root)'
	@echo 'make bench       its speed; make bench-vm: in guests'
	@echo 'make html        README, docs and manual as pages in build/html'
	@echo 'make install     under PREFIX=/usr/local, with LIBDIR= and DESTDIR= where wanted'
	@echo 'make uninstall   takes that away'
	@echo 'make dist        the source release of what is committed, in build-dist/'
	@echo 'make deb         Debian packages, in build-deb/, each built in a clean root (as root); make rpm: of the spec file'
	@echo 'make container   a root for podman, buildah or docker with the command in it, in build-container/ (as root)'
	@echo 'make check-deb   builds them and tries them: installed, used, removed'
	@echo 'make deps        installs the packages that building and testing need (Debian, as root)'
	@echo 'make clean       removes what was built; BUILD=build is the directory'

deps:
	@scripts/owned scripts/install-deps build test analysis

check:
	@scripts/owned scripts/check

test:
	@scripts/owned scripts/check -q

fuzz:
	@scripts/owned scripts/fuzz

mutate:
	@scripts/install-deps build test mutate
	@scripts/owned scripts/mutate

soak:
	@scripts/owned scripts/soak

check-vm:
	@scripts/owned tests/vm/run

check-arch:
	@scripts/owned scripts/arch

check-compilers:
	@scripts/owned scripts/compilers

demo:
	@scripts/owned scripts/demo

bench:
	@scripts/owned scripts/bench

bench-vm:
	@scripts/owned bench/vm-run

html:
	@scripts/owned scripts/install-deps html
	@scripts/owned scripts/html

install:
	@scripts/owned scripts/install

uninstall:
	@scripts/owned scripts/uninstall

dist:
	@scripts/owned scripts/dist

deb:
	@scripts/owned scripts/deb

check-deb:
	@scripts/owned tests/deb/run -b

rpm:
	@scripts/owned scripts/install-deps build rpm
	@scripts/owned scripts/rpm

container:
	@scripts/owned scripts/container

clean:
	@rm -rf $(BUILD) build-*
