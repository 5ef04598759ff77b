"""Odd JSON is a few words, whatever is odd in it."""

import pytest

from miner.jsontext import parsed


def test_plain_json_is_read() -> None:
    assert parsed('{"a": [1, 2.5, null, true, "\\ud800"]}') == {"a": [1, 2.5, None, True, "\ud800"]}
    assert parsed(b'\xef\xbb\xbf{"a": 1}') == {"a": 1}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "Expecting value, column 1"),
        ("{\n}\n}", "Extra data in line 3, column 1"),
        ("[" * 100_000, "nested too deeply"),
        ('{"a":' * 100_000, "nested too deeply"),
        ("9" * 5000, "a number is too long"),
        ("[NaN]", "NaN is no JSON"),
        ("[-Infinity]", "-Infinity is no JSON"),
        ('{"b": {"a": 1, "a": 2}}', "the key twice: a"),
        (b"\xff\xfe\x00", "no UTF-8 text"),
        (b'"\xff"', "no UTF-8 text"),
    ],
)
def test_what_is_odd_is_named(text: str | bytes, words: str) -> None:
    with pytest.raises(ValueError, match=words) as caught:
        parsed(text)
    assert len(str(caught.value)) < 80
