"""How good a task is it? One file a signal; a raised one (`"flag": true`) becomes an export flag.

size.py        files, hunks, lines and a difficulty by rule
leak.py        does the text give the fix away?
clarity.py     does the text say enough, and do the tests ask for more than it says?
wording.py     do the tests check exact words that the text does not give?
measure.py     what a signal is      stage.py  the loop
tests.py       does every part of the fix matter to a test, and what did the probes say?
"""

from miner.assess import clarity, leak, size, tests, wording
from miner.assess.measure import Measure

SIGNALS: tuple[Measure, ...] = (size.SIZE, leak.LEAK, clarity.CLARITY, wording.WORDING, tests.TESTS)
"""Every signal, in the order they are measured."""
