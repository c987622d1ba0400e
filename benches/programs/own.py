"""Prints the body of a URL with urllib.request."""

import shutil
import sys
import urllib.request

with urllib.request.urlopen(sys.argv[1]) as response:
    shutil.copyfileobj(response, sys.stdout.buffer)
