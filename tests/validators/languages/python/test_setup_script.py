"""A setup.py is read, not run."""

from validators.languages.python.setup_script import is_told, setup_arguments, strings


def test_constants_lists_and_names_are_told() -> None:
    arguments = setup_arguments("""
from setuptools import setup
tests = ["pytest>=3", "mock"]
extras = {"docs": ["sphinx"]}
extras["test"] = tests + ["six"]
setup(name="pkg", python_requires=">=3.6", tests_require=tests, extras_require=extras)
""")
    assert arguments["name"] == "pkg"
    assert arguments["python_requires"] == ">=3.6"
    assert strings(arguments["tests_require"]) == ("pytest>=3", "mock")
    assert arguments["extras_require"] == {
        "docs": ["sphinx"],
        "test": ["pytest>=3", "mock", "six"],
    }


def test_what_only_running_would_tell_is_left_out() -> None:
    arguments = setup_arguments(
        "from setuptools import setup\nsetup(name=read(), version='1', tests_require=[get(), 'a'])"
    )
    assert "name" not in arguments
    assert strings(arguments["tests_require"]) == ("a",)


def test_an_extra_whose_content_is_unknown_is_still_an_extra() -> None:
    arguments = setup_arguments("setup(extras_require={'test': open('r.txt').read().split()})")
    assert arguments["extras_require"] == {"test": []}


def test_keywords_given_by_a_dictionary_are_told() -> None:
    text = "args = dict(name='a', use_2to3=True)\nif 1:\n    import b\nsetuptools.setup(**args)"
    assert setup_arguments(text)["name"] == "a"
    assert is_told(text, "use_2to3")


def test_python_2_syntax_tells_nothing_and_breaks_nothing() -> None:
    text = "print 'x'\nsetup(name='a', use_2to3=True)"
    assert setup_arguments(text) == {}
    assert is_told(text, "use_2to3")


def test_a_script_with_a_trap_is_not_run() -> None:
    assert setup_arguments("raise SystemExit\nsetup(name='a')")["name"] == "a"
