"""What runs are told to miss, caused in real runs: the classes that only runs tell."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.toy import RECIPE, Repository, Toy, environment_of, task_of
from validators.engines import DockerEngine
from validators.languages.python.symptoms import diagnose
from validators.model import QUICK, Diagnosis, FailureClass, Image
from validators.verification import verify

pytestmark = pytest.mark.docker

CAUSES: Mapping[str, tuple[str, Diagnosis]] = {
    "missing_module": (
        "import bson.objectid\n\ndef test_a():\n    pass\n",
        Diagnosis(FailureClass.MISSING_MODULE, "bson"),
    ),
    "advised": (  # as starlette.testclient says it
        "try:\n    import httpx\nexcept ModuleNotFoundError:\n    raise RuntimeError(\n"
        "        'The starlette.testclient module requires the httpx package to be installed.\\n'\n"
        "        'You can install this with:\\n    $ pip install httpx\\n'\n    )\n"
        "\n\ndef test_a():\n    pass\n",
        Diagnosis(FailureClass.MISSING_MODULE, "httpx"),
    ),
    "missing_plugin": (
        "def test_a(mocker):\n    pass\n",
        Diagnosis(FailureClass.MISSING_PLUGIN, "pytest-mock"),
    ),
    "missing_test_data": (
        "def test_a():\n    open('tests/data/big.bin')\n",
        Diagnosis(FailureClass.MISSING_TEST_DATA, "tests/data/big.bin"),
    ),
    "missing_system_library": (
        "import ctypes\n\ndef test_a():\n    ctypes.CDLL('libGL.so.1')\n",
        Diagnosis(
            FailureClass.MISSING_SYSTEM_LIBRARY, "libGL.so.1: cannot open shared object file"
        ),
    ),
    "missing_program": (
        "import subprocess\n\ndef test_a():\n    subprocess.run(['dot', '-V'])\n",
        Diagnosis(FailureClass.MISSING_SYSTEM_LIBRARY, "No such file or directory: 'dot'"),
    ),
    "wrong_python": (
        "from collections import Mapping\n\ndef test_a():\n    pass\n",
        Diagnosis(FailureClass.WRONG_PYTHON, "cannot import name 'Mapping' from 'collections'"),
    ),
    "locale": (
        "import locale\n\ndef test_a():\n    locale.setlocale(locale.LC_ALL, 'de_DE.UTF-8')\n",
        Diagnosis(FailureClass.LOCALE, "locale.Error: unsupported locale setting"),
    ),
    "time_zone": (
        "import zoneinfo\n\ndef test_a():\n    zoneinfo.reset_tzpath(to=())\n"
        "    zoneinfo.ZoneInfo('Europe/Kyiv')\n",
        Diagnosis(FailureClass.TIME_ZONE, "Europe/Kyiv"),
    ),
    "own_runner": (
        "def test_a(canonical_filename, verbose=False):\n    pass\n",
        Diagnosis(FailureClass.OWN_RUNNER, "canonical_filename"),
    ),
    "network": (
        "import socket\n\ndef test_a():\n    socket.create_connection(('index.example', 443))\n",
        Diagnosis(FailureClass.NETWORK, "Temporary failure in name resolution"),
    ),
}


@pytest.mark.parametrize("name", CAUSES)
def test_a_real_run_tells_what_it_misses(
    name: str, engine: DockerEngine, toy_image: Image, tmp_path: Path
) -> None:
    text, expected = CAUSES[name]
    toy = Toy(
        base={"a.py": "x = 1\n"},
        tests={"tests/test_a.py": text},
        gold={"a.py": "x = 2\n"},
        fail_to_pass=(),
        pass_to_pass=(),
        recipe=RECIPE,
    )
    verdict = verify(
        task_of(toy, Repository(tmp_path / "toy", toy.base)),
        environment_of(toy_image),
        test_files=("tests/test_a.py",),
        engine=engine,
        policy=QUICK,
        progress=print,
    )
    assert not verdict.accepted
    assert diagnose(verdict, {"a.py": "", "tests/test_a.py": ""}) == expected
