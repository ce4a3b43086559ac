"""The output of the Python lines in examples/guide/python.md."""

import doctest
import os
import re
import unittest

from testing import SOURCE


class Guide(unittest.TestCase):
    def test_prints_the_output_of_the_page(self):
        page = SOURCE / "examples" / "guide" / "python.md"
        # The ends of code blocks are not output.
        text = re.sub(r"^```.*$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
        test = doctest.DocTestParser().get_doctest(text, {}, "python.md", str(page), 0)
        self.assertGreater(len(test.examples), 15)
        before = os.getcwd()
        os.chdir(SOURCE)
        try:
            told: list[str] = []
            runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
                                           | doctest.IGNORE_EXCEPTION_DETAIL)
            runner.run(test, out=told.append)
            self.assertEqual(runner.failures, 0, "".join(told))
        finally:
            os.chdir(before)


if __name__ == "__main__":
    unittest.main()
