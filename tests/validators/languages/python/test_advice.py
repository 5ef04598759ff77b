"""What an error's own words say to install, and what is no advice. All from what packages say, but
for what nobody would say who means well."""

import pytest

from validators.languages.python import advice

SAID = {
    "The starlette.testclient module requires the httpx package to be installed.\n"
    "You can install this with:\n    $ pip install httpx\n": ("httpx",),
    'Form data requires "python-multipart" to be installed. \n'
    'You can install "python-multipart" with: \n\npip install python-multipart\n': (
        "python-multipart",
    ),
    "email-validator is not installed, run `pip install pydantic[email]`": ("pydantic[email]",),
    "email-validator is not installed, run `pip install 'pydantic[email]'`": ("pydantic[email]",),
    "Using http2=True, but the 'h2' package is not installed. Make sure to install httpx using"
    " `pip install httpx[http2]`.": ("httpx[http2]",),
    "Missing optional dependency 'openpyxl'.  Use pip or conda to install openpyxl.": ("openpyxl",),
    "Please pip install PyYAML.": ("pyyaml",),
    "Try pip install -U foo to get it": ("foo",),
    "$ python3 -m pip install foo 'bar[x]>=1,<2'": ("foo", "bar[x]<2,>=1"),
    "with:\n    pip install foo to use it": ("foo",),
    "pip install foo, it's small (see https://x.invalid/foo).": ("foo",),
}


@pytest.mark.parametrize("said", SAID)
def test_what_an_error_says_to_install_is_read(said: str) -> None:
    assert tuple(advice.named(said)) == SAID[said]


@pytest.mark.parametrize(
    "said",
    [
        "foo is required",
        "Use pip to install the package",
        "Use pip install to add it",
        "You should consider upgrading via the 'pip install --upgrade pip' command.",
        "pip install .",
        "pip install -e .[test]",
        "pip install -r requirements.txt",
        "`pip install -r requirements.txt`",
        "pip install git+https://x.invalid/x",
        "`pip install 'foo @ https://x.invalid/foo.whl'`",
        "pip install foo @ https://x.invalid/foo.whl",
        "pip install --index-url https://x.invalid foo",
        "pip install foo --extra-index-url https://x.invalid",
        "`pip install --pre foo`",
        "pip install foo-1.0-py3-none-any.whl",
        "pip install /tmp/foo",
        "pip install ../foo",
        "`pip install foo; rm -rf /`",
        "pip install foo;rm -rf /",
        "$ pip install foo && evil",
        "pip install $(evil)",
        "pip install foo|sh",
        "$ pip install foo; python_version < '3'",
        "$ pip install " + " ".join(f"name{number}" for number in range(1000)),
        "\n".join(f"$ pip install name{number}" for number in range(1000)),
        "$ pip install " + "a" * 1_000_000,
    ],
)
def test_what_is_more_than_a_few_names_is_no_advice(said: str) -> None:
    assert advice.named(said) == () or advice.named(said) == []


def test_extras_of_the_tree_are_asked_of_the_tree_and_nothing_else_of_it() -> None:
    assert advice.for_tree(["a-b[x,y]>=1", "a-b", "a-c[x]"], "A_b") == (".[x,y]", "a-c[x]")
    assert advice.for_tree(["a-b"], None) == ("a-b",)


def test_the_error_is_told_from_what_stands_around_it() -> None:
    shown = "pip install x\nE   ImportError: no\nE   pip install y\n\nother\npip install z\n"
    assert advice.of_output(shown) == "ImportError: no\npip install y"
    raised = (
        "pip install x\nTraceback (most recent call last):\n  File 'a.py', line 1\n"
        "    raise E('pip install y')\nE: no\n"
    )
    assert advice.of_output(raised) == "E: no"
    assert advice.of_output("pip install x\n") == ""
    internal = "\n".join(f"INTERNALERROR> {line}" for line in raised.splitlines())
    assert advice.of_output(internal) == "E: no"


@pytest.mark.parametrize(
    ("message", "raised", "error"),
    [
        ("RuntimeError: pip install x", False, "RuntimeError: pip install x"),
        ("pip install x", True, "pip install x"),
        ("pip install x", False, ""),
        ("Skipped: pip install x", False, ""),
        ("assert 'pip install x' == 1", False, ""),
        ("AssertionError: pip install x", True, ""),
        ("E   AssertionError: pip install x", True, ""),
    ],
)
def test_a_tests_own_affair_is_no_error(message: str, raised: bool, error: str) -> None:
    assert advice.of_message(message, raised=raised) == error


def test_a_build_says_last_what_it_ended_for() -> None:
    log = "[stdout]\npip install x\n[stderr]\npip install y\nerror: no\npip install z\nhint: w\n"
    assert advice.of_build(log) == "error: no\npip install z"
    assert advice.of_build("pip install x\n") == ""
