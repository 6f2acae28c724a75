"""Paths that the tests of the Python tools share."""

import os
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
FIXTURE = os.path.join(ROOT, "fixtures", "data", "smollm2_l29_g128.h5")
sys.path[:0] = [os.path.join(ROOT, "tools", "python"), os.path.join(ROOT, "tools", "capture"),
                os.path.dirname(os.path.abspath(__file__))]
