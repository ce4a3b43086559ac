"""run.py MODULE RESULTS: runs the tests of MODULE (x_test), and writes RESULTS, in which count.sh counts them."""

import os
import sys
import unittest
from xml.sax.saxutils import quoteattr


def main() -> int:
    module, results = sys.argv[1:]
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    suite = unittest.defaultTestLoader.loadTestsFromName(module)
    result = unittest.TextTestRunner(verbosity=1).run(suite)
    failures = len(result.failures) + len(result.errors) + len(result.unexpectedSuccesses)
    os.makedirs(os.path.dirname(results), exist_ok=True)
    with open(results, "w", encoding="utf-8") as out:
        out.write(f'<testsuites tests="{result.testsRun}" failures="{failures}" name={quoteattr(module)}>\n')
        for _, reason in result.skipped:
            out.write(f'<testcase result="skipped"><skipped message={quoteattr(module + "&#x0A;" + reason)}/></testcase>\n')
        out.write("</testsuites>\n")
    return 0 if result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
