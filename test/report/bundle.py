"""The committed page is the one that its sources make."""

import hashlib
import os
import re
import unittest

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "io", "report", "page")


class Bundle(unittest.TestCase):
    def test_was_made_of_the_sources_that_are_there(self):
        made_of = hashlib.sha256()
        source = os.path.join(PAGE, "source")
        for name in sorted(os.listdir(source)):
            with open(os.path.join(source, name), encoding="utf-8") as file:
                made_of.update(f"{name}\n{file.read()}".encode())
        with open(os.path.join(PAGE, "page.html"), encoding="utf-8") as file:
            told = re.search(r'<meta name="muster-page" content="(\w+)">', file.read())
        self.assertEqual(told[1], made_of.hexdigest(), "cd io/report/page && npm ci && npm run bundle")


if __name__ == "__main__":
    unittest.main()
