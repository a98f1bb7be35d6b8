# SPDX-License-Identifier: BSD-2-Clause
"""usage: pyverbs.py FOLDER LIBRARY DEVICE ADDRESS

rdma-core's own tests of pyverbs' connection manager, as Debian has them in FOLDER (scripts/vm/fetch-pyverbs), on the
device with that address. LIBRARY is the folder of the librdmacm that has to be the one in use; '' for the system's. For each
test prints "ok NAME", "ok NAME # SKIP why" or "not ok NAME # why".
"""
import os
import re
import sys
import types
import unittest

folder, library, device, address = sys.argv[1:]
sys.path[:0] = [folder, folder + "/tests"]
# Their package, without its loading of the tests of every device there is.
package = types.ModuleType("tests")
package.__path__ = [folder + "/tests"]
sys.modules["tests"] = package

from args_parser import parser  # noqa: E402

sys.argv[1:] = ["--dev", device]
parser.parse_args()
import tests.base  # noqa: E402
import tests.test_rdmacm  # noqa: E402


# A Soft-RoCE device doesn't tell in sysfs which link it is on, where they look for the address.
def has_address(case, dev, port, index):
    case.args.append([dev, port, index, address, None])


tests.base.RDMATestCase._get_ip_mac = has_address


class Lines(unittest.TestResult):
    failed = False

    def said(self, case, verdict, why=""):
        print(f"{verdict} {case.id().rpartition('.')[2]}{why}", flush=True)

    def addSuccess(self, case):
        self.said(case, "ok")

    def addSkip(self, case, reason):
        self.said(case, "ok", f" # SKIP {reason}")

    def addFailure(self, case, error):
        self.failed = True
        self.said(case, "not ok", f" # {error[1]}".splitlines()[0])

    addError = addFailure


class Loaded(unittest.TestCase):
    def test_pyverbs_runs_on_the_library_under_test(self):
        with open("/proc/self/maps") as maps:
            paths = set(re.findall(r"\S+/librdmacm\.so\S*", maps.read()))
        self.assertEqual(len(paths), 1, paths)
        folder = os.path.dirname(paths.pop())
        self.assertEqual(folder, library or "/usr/lib/x86_64-linux-gnu")


cases = unittest.TestSuite(unittest.defaultTestLoader.loadTestsFromTestCase(case)
                           for case in (Loaded, tests.test_rdmacm.CMTestCase))
result = Lines()
cases.run(result)
sys.exit(result.failed)
