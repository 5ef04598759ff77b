"""The few files of the made projects."""

LICENSE = """MIT License

Copyright (c) 2026 the demo's authors

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and
associated documentation files (the "Software"), to deal in the Software without restriction,
including without limitation the rights to use, copy, modify, merge, publish, distribute,
sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or
substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT
NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND
NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES
OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN
CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
"""

WORDS = '''"""Words and how often they occur."""

from collections import Counter


def count(text):
    """Word → how often it occurs."""
    return Counter(text.split())
'''
LONGEST = '''

def longest(text):
    """The longest word, or an empty string."""
    return max(text.split(), key=len, default="")
'''
SHORTEST = LONGEST.replace("longest", "shortest").replace("max(", "min(")
WORDS_TESTS = """from tally import words


def test_count():
    assert words.count("a b a") == {"a": 2, "b": 1}
"""
HYPHEN_TEST = """

def test_hyphen():
    assert words.count("well-known") == {"well": 1, "known": 1}
"""
BALANCE = '''"""Adds amounts."""


def balance(amounts):
    """The sum of all amounts."""
    return sum(amount for amount in amounts if amount > 0)
'''
BALANCE_TESTS = """from ledger import balance


def test_balance():
    assert balance([1, 2]) == 3
"""
EXPENSES_TEST = """

def test_expenses():
    assert balance([5, -2]) == 3
"""
