# SPDX-License-Identifier: BSD-2-Clause
# The threaded programs and those that lose ids and devices, under AddressSanitizer and UBSan.
export ASAN_OPTIONS=detect_leaks=1:abort_on_error=0 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
sanitized asan
unset ASAN_OPTIONS UBSAN_OPTIONS
