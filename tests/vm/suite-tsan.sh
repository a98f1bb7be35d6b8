# SPDX-License-Identifier: BSD-2-Clause
# The threaded programs under ThreadSanitizer.
# The newest kernel spreads mappings wider than ThreadSanitizer's runtime of Debian 12 knows.
sysctl -qw vm.mmap_rnd_bits=28
sanitized tsan
