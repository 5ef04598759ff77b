"""Reports from inside a test process: one file, standard library only, Python 3.6 to 3.14.

It is never imported by the miner: its text is put into the container under the name
`miner_reporter`, root-owned, and loaded there in one of two ways:

    python -m pytest -p miner_reporter …            a pytest plug-in (pytest 3 to 9)
    python …/miner_reporter.py watch -m unittest …  unittest, load_tests suites, Django's runner

The first line of standard input is `miner-report NONCE PIPE TEST_TIMEOUT_S SHUFFLE_SEED`. It is
consumed before any code of the project runs, so neither environment nor command line ever holds
the nonce.

One record is one write of at most PIPE_BUF bytes: `\\nNONCE MARK TEXT\\n`, where TEXT is ASCII JSON
and MARK is `+` when the next record continues it, else `.`. A test can close our descriptor, crash
or be killed: what was written is out already. The reading side is `validators/transcript.py`.

Functions are bound when the reporter is made, since tests replace them (clocks, fake file systems).
pytest need not look for assertions to rewrite here: PYTEST_DONT_REWRITE.
"""

import errno
import fcntl
import hashlib
import json
import os
import platform
import runpy
import signal
import sys
import threading
import time
from typing import Any, Callable, Dict, Iterable, Iterator, List, Optional, Set, Tuple

FORMAT = 1
PIECE = 3500  # with nonce and marks below PIPE_BUF (4096 on Linux)
WHOLE = 4096
MESSAGE = 600
SWALLOWED_S = 5.0  # a test that catches its time-out is interrupted again after so long


class Reporter:
    """Writes records into the pipe, whatever the tests did to the process."""

    def __init__(
        self, *, nonce: str, pipe: str, test_timeout_s: float, shuffle_seed: int = 0
    ) -> None:
        self.timed_out: Set[str] = set()
        self.shuffle_seed = shuffle_seed
        self.test_timeout_s = test_timeout_s
        self._nonce = nonce.encode("ascii")
        self._pipe = pipe
        self._dumps = make_dumps()
        self._write, self._fstat, self._getpid = os.write, os.fstat, os.getpid
        self._open, self._close, self._set_blocking = os.open, os.close, os.set_blocking
        self._fcntl, self._sleep = fcntl.fcntl, time.sleep
        self._signal, self._getsignal, self._setitimer = (
            signal.signal,
            signal.getsignal,
            signal.setitimer,
        )
        self._pid = os.getpid()
        self._held: List[bytes] = []
        self._fd = -1
        self._identity = (0, 0)
        self._connect()

    def _connect(self) -> None:
        """Open the pipe on a high descriptor; without a reader wait a little, then give up."""
        for _ in range(100):
            try:
                low = self._open(self._pipe, os.O_WRONLY | os.O_NONBLOCK)
            except OSError as error:
                if error.errno != errno.ENXIO:
                    return
                self._sleep(0.05)
                continue
            try:
                self._fd = self._fcntl(low, fcntl.F_DUPFD_CLOEXEC, 200)
                self._close(low)
            except OSError:  # fewer descriptors than that are allowed
                self._fd = low
            self._set_blocking(self._fd, True)
            seen = self._fstat(self._fd)
            self._identity = (seen.st_dev, seen.st_ino)
            return

    def _is_ours(self) -> bool:
        """The descriptor may have been closed and given to another file since."""
        try:
            seen = self._fstat(self._fd)
        except OSError:
            return False
        return (seen.st_dev, seen.st_ino) == self._identity

    def send(self, event: str, **fields: Any) -> None:
        """Write one event; in a forked child of the test process nothing is written."""
        self.hold(event, **fields)
        self.flush()

    def hold(self, event: str, **fields: Any) -> None:
        """Write one event with the next one: each write costs more than what it says."""
        if self._getpid() != self._pid:
            return
        fields["event"] = event
        text = self._dumps(fields).encode("ascii")
        pieces = [text[at : at + PIECE] for at in range(0, len(text), PIECE)]
        for number, piece in enumerate(pieces, 1):
            mark = b"." if number == len(pieces) else b"+"
            self._held.append(b"\n" + self._nonce + b" " + mark + b" " + piece + b"\n")

    def flush(self) -> None:
        """Write what is held, whole records at a time as far as the pipe takes them in one go."""
        if self._getpid() != self._pid or not self._held:
            return
        lines, self._held = self._held, []
        if not self._is_ours():
            self._connect()
        batch = b""
        try:
            for line in lines:
                if len(batch) + len(line) > WHOLE:
                    self._write_all(batch)
                    batch = b""
                batch += line
            self._write_all(batch)
        except OSError:  # nobody reads any more: the run is over or lost
            return

    def _write_all(self, rest: bytes) -> None:
        while rest:
            rest = rest[self._write(self._fd, rest) :]

    def send_ids(self, ids: Iterable[str]) -> None:
        """What was collected, in as few records as fit."""
        batch: List[str] = []
        room, count = PIECE - 100, 0
        for identifier in ids:
            count += 1
            size = len(self._dumps(identifier)) + 1
            if batch and size > room:
                self.send("items", ids=batch)
                batch, room = [], PIECE - 100
            batch.append(identifier)
            room -= size
        if batch:
            self.send("items", ids=batch)
        self.send("collected", count=count)

    def arm(self, identifier: str, failure: Callable[[str], BaseException]) -> bool:
        """Interrupt this test after the limit, unless somebody else uses SIGALRM already."""
        if self.test_timeout_s <= 0 or threading.current_thread() is not threading.main_thread():
            return False
        if self._getsignal(signal.SIGALRM) is not signal.SIG_DFL:
            return False

        def interrupt(_number: int, _frame: Any) -> None:
            self.timed_out.add(identifier)
            raise failure("test took longer than %g s" % self.test_timeout_s)

        self._signal(signal.SIGALRM, interrupt)
        self._setitimer(signal.ITIMER_REAL, self.test_timeout_s, SWALLOWED_S)
        return True

    def disarm(self) -> None:
        """Take back what `arm` set; only called when it returned True."""
        self._setitimer(signal.ITIMER_REAL, 0.0)
        self._signal(signal.SIGALRM, signal.SIG_DFL)


def make_dumps() -> Callable[[Any], str]:
    """JSON of plain values in ASCII; json's own encoders look up what tests may have replaced."""
    quote, whole, real = json.encoder.encode_basestring_ascii, int.__repr__, float.__repr__

    def dumps(value: Any) -> str:
        if isinstance(value, str):
            return quote(value)
        if value is None or value is True or value is False:
            return {None: "null", True: "true", False: "false"}[value]
        if isinstance(value, int):
            return whole(value)
        if isinstance(value, float):
            return real(value) if value - value == 0.0 else "null"  # inf, nan
        if isinstance(value, dict):
            return (
                "{" + ",".join(quote(key) + ":" + dumps(each) for key, each in value.items()) + "}"
            )
        return "[" + ",".join(dumps(each) for each in value) + "]"

    return dumps


def shuffle_key(seed: int, identifier: str) -> Tuple[str, str]:
    """Another order, the same every time: files in it, and tests inside each file."""
    file = identifier.partition("::")[0]
    return tuple(
        hashlib.sha256(("%d %s" % (seed, part)).encode("utf-8", "replace")).hexdigest()
        for part in (file, identifier)
    )  # type: ignore[return-value]


def clip(text: str) -> str:
    """Head and tail of a long message: the tail of a traceback names the error."""
    if len(text) <= MESSAGE:
        return text
    return text[:100] + " … " + text[-(MESSAGE - 103) :]


def connect() -> Optional[Reporter]:
    """The reporter that the first line of standard input describes; None without such a line."""
    line = b""
    try:
        while not line.endswith(b"\n") and len(line) < 4096:
            byte = os.read(0, 1)
            if not byte:
                break
            line += byte
    except OSError:
        return None
    words = line.decode("utf-8", "replace").split()
    if len(words) != 5 or words[0] != "miner-report":
        return None
    return Reporter(
        nonce=words[1],
        pipe=words[2],
        test_timeout_s=float(words[3]),
        shuffle_seed=int(words[4]),
    )


def forget_import_path() -> None:
    """Take our folder off the import path, so that the project's processes never see it."""
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if entry != here]
    entries = os.environ.pop("PYTHONPATH", "").split(os.pathsep)
    kept = [entry for entry in entries if entry and entry != here]
    if kept:
        os.environ["PYTHONPATH"] = os.pathsep.join(kept)


# ------------------------------------------------------------------ pytest


def _message(longrepr: Any) -> str:
    """The short form of a failure, without rendering whole tracebacks."""
    crash = getattr(longrepr, "reprcrash", None)
    if crash is not None:
        return clip(str(crash.message))
    if isinstance(longrepr, tuple):  # a skip: file, line, reason
        return clip(str(longrepr[-1]))
    return clip(str(longrepr)) if longrepr is not None else ""


def make_plugin(reporter: Reporter) -> Any:
    """The plug-in object; made late, since only a pytest process may import pytest."""
    import pytest  # the same file also runs where there is no pytest

    failed = pytest.fail.Exception

    class Plugin(object):
        def pytest_collectreport(self, report: Any) -> None:
            if report.outcome != "passed":
                reporter.send(
                    "collect",
                    id=report.nodeid,
                    outcome=report.outcome,
                    message=_message(report.longrepr),
                )

        @pytest.hookimpl(trylast=True)
        def pytest_collection_modifyitems(self, items: Any) -> None:
            if reporter.shuffle_seed:
                items.sort(key=lambda item: shuffle_key(reporter.shuffle_seed, item.nodeid))

        @pytest.hookimpl(trylast=True)
        def pytest_collection_finish(self, session: Any) -> None:
            reporter.send_ids(item.nodeid for item in session.items)

        def pytest_runtest_logstart(self, nodeid: str) -> None:
            reporter.send("start", id=nodeid)

        @pytest.hookimpl(hookwrapper=True, trylast=True)
        def pytest_runtest_setup(self, item: Any) -> Iterator[None]:
            armed = reporter.arm(item.nodeid, failed)
            yield
            if armed:
                reporter.disarm()

        @pytest.hookimpl(hookwrapper=True, trylast=True)
        def pytest_runtest_call(self, item: Any) -> Iterator[None]:
            armed = reporter.arm(item.nodeid, failed)
            yield
            if armed:
                reporter.disarm()

        @pytest.hookimpl(hookwrapper=True, trylast=True)
        def pytest_runtest_teardown(self, item: Any) -> Iterator[None]:
            armed = reporter.arm(item.nodeid, failed)
            yield
            if armed:
                reporter.disarm()

        @pytest.hookimpl(trylast=True)  # pytest 9 turns a test with failed subtests red on the way
        def pytest_runtest_logreport(self, report: Any) -> None:
            # Passed set-ups go with their call, passed tear-downs with the next start: a process
            # that dies in a test has left its start, and all that was said of it.
            passing = report.outcome == "passed" and report.when != "call"
            (reporter.hold if passing else reporter.send)(
                "phase",
                id=report.nodeid,
                when=report.when,
                outcome=report.outcome,
                xfail=hasattr(report, "wasxfail"),
                sub="subtest" in type(report).__name__.lower(),
                timeout=report.nodeid in reporter.timed_out,
                duration=round(float(getattr(report, "duration", 0.0)), 4),
                message=_message(report.longrepr) if report.outcome != "passed" else "",
            )

        def pytest_internalerror(self, excrepr: Any) -> None:
            reporter.send("internal", message=clip(str(excrepr)))

        @pytest.hookimpl(hookwrapper=True, tryfirst=True)
        def pytest_sessionfinish(self, session: Any, exitstatus: Any) -> Iterator[None]:
            reporter.flush()
            yield
            terminal = session.config.pluginmanager.getplugin("terminalreporter")
            stats = getattr(terminal, "stats", None)
            names = ("passed", "failed", "error", "skipped", "xfailed", "xpassed")
            reporter.send(
                "end",
                status=int(getattr(session, "exitstatus", exitstatus)),
                counts=None
                if stats is None
                else {name: len(_reports(stats.get(name, ()))) for name in names},
            )

    return Plugin()


def _reports(entries: Iterable[Any]) -> List[Any]:
    """Of a category of the terminal's statistics, what stands for a test, not for a subtest."""
    return [entry for entry in entries if "subtest" not in type(entry).__name__.lower()]


_QUIET = {
    "no_cov": True,  # pytest-cov: slow, and its threshold changes the exit code
    "numprocesses": 0,  # pytest-xdist: ids arrive by worker
    "dist": "no",
    "tx": [],
    "maxfail": 0,  # whatever was asked for, every test is decided
    "stepwise": False,
    "continue_on_collection_errors": True,
    "color": "no",
    "reportchars": "fE",  # -rA is quadratic in the number of tests
    "usepdb": False,
    "randomly_reorganize": False,  # pytest-randomly
    "randomly_seed": 1,
    "hypothesis_seed": 0,
    "timeout_method": "signal",  # pytest-timeout's thread method ends the whole process
}
"""Options that would take statuses away or make runs differ, and what they become. Only those that
a loaded plug-in declares are set: nothing of a project's own options is removed or unknown."""


def _calm(options: Any) -> None:
    for name, value in _QUIET.items():
        if hasattr(options, name):
            setattr(options, name, list(value) if isinstance(value, list) else value)


def pytest_load_initial_conftests(early_config: Any) -> Iterator[None]:
    """Start to report before any conftest is read: the one hook that is called so early."""
    _calm(early_config.known_args_namespace)
    if _REPORTER is not None:
        early_config.pluginmanager.register(make_plugin(_REPORTER), "miner_reporter_hooks")
    yield


def pytest_cmdline_main(config: Any) -> None:
    """Before any plug-in acts on its options."""
    _calm(config.option)


# ---------------------------------------------------- unittest and its kin


def _flatten(suite: Any) -> Iterator[Any]:
    try:
        members = iter(suite)
    except TypeError:
        yield suite
        return
    for member in members:
        for test in _flatten(member):
            yield test  # a plain loop reads the same in every Python


def shuffle_suite(suite: Any, seed: int) -> None:
    """Another order, in place: of suites inside their suite, and of tests inside their class.

    Classes of one flat suite stay where they are: Django puts those that empty the database last.
    """
    members = getattr(suite, "_tests", None)
    if not isinstance(members, list):
        return
    for member in members:
        shuffle_suite(member, seed)
    nested = [hasattr(member, "_tests") for member in members]
    if all(nested):
        members.sort(key=lambda member: _suite_key(member, seed))
    elif not any(nested):
        ranks: Dict[Any, int] = {}
        for member in members:
            ranks.setdefault(type(member), len(ranks))
        members.sort(
            key=lambda member: (ranks[type(member)], shuffle_key(seed, _identify(member)[0])[1])
        )


def _suite_key(suite: Any, seed: int) -> str:
    first = next(_flatten(suite), None)
    return shuffle_key(seed, _identify(first)[0])[1] if hasattr(first, "id") else ""


def _identify(test: Any) -> Tuple[str, bool]:
    """A test's id, and whether it stands for something that could not even be collected."""
    identifier = getattr(test, "test_case", test).id()  # of a subtest: its test's
    stand_ins = ("unittest.loader._FailedTest.", "unittest.loader.ModuleImportFailure.")
    for prefix in stand_ins:
        if identifier.startswith(prefix):
            return identifier[len(prefix) :], True
    return identifier, False


def _is_subtest(test: Any, name: str) -> bool:
    """Skipped subtests are not counted: the test they belong to is reported by itself."""
    return name == "skipped" and type(test).__name__ == "_SubTest"


class TestTookTooLongError(BaseException):
    """Raised in a test by its time limit; `except Exception` in the test cannot swallow it."""

    __test__ = False


def make_result_class(reporter: Reporter, base: Any) -> Any:
    """`base`, which a runner chose, that also reports. One event for each add… call."""

    def tell(test: Any, outcome: str, detail: Any = None, **more: Any) -> None:
        identifier, uncollected = _identify(test)
        message = str(detail[1]) if isinstance(detail, tuple) else str(detail or "")
        if uncollected and outcome == "error":
            reporter.send("collect", id=identifier, outcome="failed", message=clip(message))
            return
        fixture = not hasattr(test, "countTestCases") or type(test).__name__ == "_ErrorHolder"
        reporter.send(
            "phase",
            id=identifier,
            when="setup" if fixture else "call",
            outcome=outcome,
            xfail=more.get("xfail", False),
            sub=more.get("sub", False),
            timeout=identifier in reporter.timed_out,
            duration=0.0,
            message=clip(message),
        )

    class Result(base):  # type: ignore[misc]
        def startTest(self, test: Any) -> None:
            reporter.send("start", id=_identify(test)[0])
            super(Result, self).startTest(test)
            self._miner_armed = reporter.arm(_identify(test)[0], TestTookTooLongError)

        def stopTest(self, test: Any) -> None:
            if getattr(self, "_miner_armed", False):
                reporter.disarm()
            super(Result, self).stopTest(test)
            reporter.send("stop", id=_identify(test)[0])

        def addSuccess(self, test: Any) -> None:
            tell(test, "passed")
            super(Result, self).addSuccess(test)

        def addFailure(self, test: Any, err: Any) -> None:
            tell(test, "failed", err)
            super(Result, self).addFailure(test, err)

        def addError(self, test: Any, err: Any) -> None:
            tell(test, "error", err)
            super(Result, self).addError(test, err)

        def addSkip(self, test: Any, reason: str) -> None:
            tell(test, "skipped", reason, sub=type(test).__name__ == "_SubTest")
            super(Result, self).addSkip(test, reason)

        def addExpectedFailure(self, test: Any, err: Any) -> None:
            tell(test, "skipped", err, xfail=True)
            super(Result, self).addExpectedFailure(test, err)

        def addUnexpectedSuccess(self, test: Any) -> None:
            tell(test, "passed", xfail=True)
            super(Result, self).addUnexpectedSuccess(test)

        def addSubTest(self, test: Any, subtest: Any, err: Any) -> None:
            if err is not None:
                kind = "failed" if issubclass(err[0], test.failureException) else "error"
                tell(test, kind, err)
            super(Result, self).addSubTest(test, subtest, err)

    return Result


def watch_unittest(reporter: Reporter) -> Dict[str, int]:
    """Make every text runner of this process report; returns the counts, filled in as it runs."""
    import unittest

    counts: Dict[str, int] = {}
    runner = unittest.TextTestRunner
    original_run, original_make = runner.run, runner._makeResult

    def make(self: Any) -> Any:
        chosen = self.resultclass
        self.resultclass = make_result_class(reporter, chosen)
        try:
            return original_make(self)
        finally:
            self.resultclass = chosen

    def run(self: Any, test: Any) -> Any:
        if reporter.shuffle_seed:
            shuffle_suite(test, reporter.shuffle_seed)
        known = [_identify(each) for each in _flatten(test)]
        reporter.send_ids(name for name, uncollected in known if not uncollected)
        result = original_run(self, test)
        for name, entries in (
            ("failed", result.failures),
            ("error", result.errors),
            ("skipped", result.skipped),
            ("xfailed", result.expectedFailures),
            ("xpassed", result.unexpectedSuccesses),
        ):
            whole = [e for e in entries if not (isinstance(e, tuple) and _is_subtest(e[0], name))]
            counts[name] = counts.get(name, 0) + len(whole)
        return result

    runner._makeResult = make  # type: ignore[method-assign]
    runner.run = run  # type: ignore[method-assign]
    return counts


def watch(arguments: List[str]) -> None:
    """Run `-m module …` or `script …` as the interpreter would, with unittest watched."""
    reporter = connect()
    forget_import_path()
    counts: Dict[str, int] = {}
    if reporter is not None:
        reporter.send("begin", format=FORMAT, runner="unittest", python=platform.python_version())
        counts = watch_unittest(reporter)
    status = 1
    try:
        if arguments[0] == "-m":
            sys.argv = arguments[1:]
            sys.path.insert(0, os.getcwd())
            runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
        else:
            sys.argv = arguments
            sys.path.insert(0, os.path.dirname(os.path.abspath(arguments[0])))
            runpy.run_path(arguments[0], run_name="__main__")
        status = 0
    except SystemExit as leaving:
        code = leaving.code
        status = code if isinstance(code, int) else 0 if code is None else 1
        raise
    finally:
        if reporter is not None:
            reporter.send("end", status=int(status), counts=counts or None)


_REPORTER: Optional[Reporter] = None

if __name__ == "miner_reporter":
    import pytest

    pytest.hookimpl(hookwrapper=True)(pytest_load_initial_conftests)
    pytest.hookimpl(tryfirst=True)(pytest_cmdline_main)
    _REPORTER = connect()
    forget_import_path()
    if _REPORTER is not None:
        _REPORTER.send(
            "begin",
            format=FORMAT,
            runner="pytest",
            version=pytest.__version__,
            python=platform.python_version(),
        )
elif __name__ == "__main__":
    if sys.argv[1:2] == ["watch"] and len(sys.argv) > 2:
        watch(sys.argv[2:])
