"""Which distribution provides a module, where the two are called differently."""

from packaging.utils import canonicalize_name

_BY_MODULE = {
    "attr": "attrs", "bs4": "beautifulsoup4", "bson": "pymongo", "cairo": "pycairo",
    "Crypto": "pycryptodome", "Cryptodome": "pycryptodomex", "cv2": "opencv-python-headless",
    "dateutil": "python-dateutil", "discord": "discord.py",
    "distutils": "setuptools", "docx": "python-docx",
    "dotenv": "python-dotenv", "fitz": "PyMuPDF", "git": "GitPython", "google": "protobuf",
    "gi": "PyGObject", "IPython": "ipython", "jose": "python-jose", "jwt": "PyJWT",
    "kafka": "kafka-python", "ldap": "python-ldap", "Levenshtein": "python-Levenshtein",
    "magic": "python-magic", "markdown": "Markdown", "memcache": "python-memcached",
    "mpl_toolkits": "matplotlib", "MySQLdb": "mysqlclient", "nacl": "PyNaCl",
    "OpenSSL": "pyOpenSSL",
    "PIL": "Pillow", "pkg_resources": "setuptools", "psycopg2": "psycopg2-binary",
    "pylab": "matplotlib", "pytest_httpbin": "pytest-httpbin", "pptx": "python-pptx",
    "redis_lock": "python-redis-lock", "rest_framework": "djangorestframework",
    "ruamel": "ruamel.yaml", "serial": "pyserial", "setuptools": "setuptools",
    "skimage": "scikit-image", "sklearn": "scikit-learn", "slugify": "python-slugify",
    "socks": "PySocks", "tlz": "toolz", "telegram": "python-telegram-bot", "usb": "pyusb",
    "websocket": "websocket-client", "xdist": "pytest-xdist", "yaml": "PyYAML", "zmq": "pyzmq",
    "zope": "zope.interface", "lxml": "lxml", "jks": "pyjks", "cpuinfo": "py-cpuinfo",
    "Xlib": "python-xlib",
    "xprocess": "pytest-xprocess", "pyximport": "Cython", "faker": "Faker", "flask": "Flask",
    "flask_sqlalchemy": "Flask-SQLAlchemy", "sqlalchemy": "SQLAlchemy", "jinja2": "Jinja2",
    "werkzeug": "Werkzeug", "pygments": "Pygments", "babel": "Babel", "django": "Django",
    "pexpect": "pexpect", "mock": "mock", "sh": "sh", "past": "future", "builtins": "future",
    "httpbin": "httpbin", "unittest2": "unittest2", "typeguard": "typeguard", "OpenGL": "PyOpenGL",
    "github": "PyGithub", "gitlab": "python-gitlab", "jsonrpc": "json-rpc", "dns": "dnspython",
    "snappy": "python-snappy", "lz4": "lz4", "odf": "odfpy", "xlwt": "xlwt", "MarkupPy": "MarkupPy",
    "pyparsing": "pyparsing", "mimeparse": "python-mimeparse", "pkginfo": "pkginfo",
    "umsgpack": "u-msgpack-python", "msgpack": "msgpack", "pythonjsonlogger": "python-json-logger",
    "pymysql": "PyMySQL", "nose": "nose", "editor": "python-editor", "absl": "absl-py",
    "tornado": "tornado", "win32api": "pywin32", "flaskext": "Flask", "moto": "moto",
    "pyaudio": "PyAudio", "ujson": "ujson", "rfc3339_validator": "rfc3339-validator",
    "flaky": "flaky", "simple_parsing": "simple-parsing", "betamax": "betamax",
    "asgiref": "asgiref", "trustme": "trustme", "pydispatch": "PyDispatcher",
}  # fmt: skip

_BY_PYTEST_OPTION = {
    "--cov": "pytest-cov", "--no-cov": "pytest-cov", "--timeout": "pytest-timeout",
    "--benchmark": "pytest-benchmark", "-n": "pytest-xdist", "--dist": "pytest-xdist",
    "--numprocesses": "pytest-xdist", "--asyncio": "pytest-asyncio", "--flake8": "pytest-flake8",
    "--flakes": "pytest-flakes", "--pep8": "pytest-pep8", "--pycodestyle": "pytest-pycodestyle",
    "--pydocstyle": "pytest-pydocstyle", "--pylint": "pytest-pylint", "--mypy": "pytest-mypy",
    "--black": "pytest-black", "--isort": "pytest-isort", "--ruff": "pytest-ruff",
    "--doctest-plus": "pytest-doctestplus", "--doctest-rst": "pytest-doctestplus",
    "--reruns": "pytest-rerunfailures", "--instafail": "pytest-instafail", "--html": "pytest-html",
    "--random-order": "pytest-random-order", "--randomly": "pytest-randomly",
    "--ds": "pytest-django", "--reuse-db": "pytest-django", "--nomigrations": "pytest-django",
    "--create-db": "pytest-django", "--snapshot": "syrupy", "--mpl": "pytest-mpl",
    "--nbval": "nbval", "--remote-data": "pytest-remotedata", "--forked": "pytest-forked",
    "--sugar": "pytest-sugar", "--no-sugar": "pytest-sugar", "--checkdocs": "pytest-checkdocs",
    "--spec": "pytest-spec", "--mccabe": "pytest-mccabe", "--clarity": "pytest-clarity",
    "--disable-socket": "pytest-socket", "--allow-hosts": "pytest-socket",
    "--cov-report": "pytest-cov", "--xdoctest": "xdoctest", "--run-slow": "pytest-skip-slow",
    "--hypothesis": "hypothesis", "--vcr": "pytest-vcr", "--record-mode": "pytest-recording",
    "--picked": "pytest-picked", "--perf": "pytest-perf", "--enabler": "pytest-enabler",
}  # fmt: skip

_BY_INI = {
    "asyncio_mode": "pytest-asyncio", "asyncio_default_fixture_loop_scope": "pytest-asyncio",
    "timeout": "pytest-timeout", "timeout_method": "pytest-timeout",
    "DJANGO_SETTINGS_MODULE": "pytest-django", "django_find_project": "pytest-django",
    "mypy_plugin": "pytest-mypy-plugins", "flake8-ignore": "pytest-flake8",
    "remote_data_strict": "pytest-remotedata", "doctest_plus": "pytest-doctestplus",
    "env": "pytest-env", "python_paths": "pytest-pythonpath",
}  # fmt: skip

_BY_FIXTURE = {
    "mocker": "pytest-mock", "benchmark": "pytest-benchmark", "httpbin": "pytest-httpbin",
    "httpbin_secure": "pytest-httpbin", "requests_mock": "requests-mock",
    "httpserver": "pytest-httpserver", "subtests": "pytest-subtests", "freezer": "pytest-freezer",
    "event_loop": "pytest-asyncio", "snapshot": "syrupy", "datadir": "pytest-datadir",
    "shared_datadir": "pytest-datadir", "faker": "Faker", "httpx_mock": "pytest-httpx",
    "respx_mock": "respx", "aiohttp_client": "pytest-aiohttp", "aioresponses": "aioresponses",

    "xprocess": "pytest-xprocess", "regtest": "pytest-regtest", "fs": "pyfakefs",
    "data_regression": "pytest-regressions", "file_regression": "pytest-regressions",
    "live_server": "pytest-django", "django_db_setup": "pytest-django",
    "postgresql": "pytest-postgresql",
    "testdir_mock": "pytest-mock", "cases": "pytest-cases", "lazy_fixture": "pytest-lazy-fixture",
    "console_scripts": "pytest-console-scripts", "script_runner": "pytest-console-scripts",
    "sphinx_app": "Sphinx", "jp_serverapp": "pytest-jupyter", "tornado_app": "pytest-tornado",
}  # fmt: skip

_BY_MARK = {
    "asyncio": "pytest-asyncio", "anyio": "anyio", "trio": "pytest-trio",
    "timeout": "pytest-timeout",
    "django_db": "pytest-django", "flaky": "flaky", "vcr": "pytest-vcr",
    "benchmark": "pytest-benchmark",
    "datafiles": "pytest-datafiles", "freeze_time": "pytest-freezer", "gen_test": "pytest-tornado",
    "run": "pytest-ordering", "order": "pytest-order", "parallel": "pytest-parallel",
    "mpl_image_compare": "pytest-mpl", "remote_data": "pytest-remotedata",
    "enable_socket": "pytest-socket", "disable_socket": "pytest-socket",
}  # fmt: skip

LEFT_OUT = frozenset({"pywin32", "future"})
"""Known, and never of use here: another system's, or a stand-in for what Python 3 has itself."""


def distribution_of(module: str) -> str:
    """The distribution of a top-level module; where we know nothing, one of the same name."""
    return canonicalize_name(_BY_MODULE.get(module, module))


def is_known(module: str) -> bool:
    """Whether the module's distribution is known, not guessed."""
    return module in _BY_MODULE


def plugin_of_option(option: str) -> str | None:
    """The plug-in that brings a pytest command-line option ("--cov-report=xml")."""
    bare = option.partition("=")[0]
    if bare.startswith("-n") and not bare.startswith("--"):
        bare = "-n"
    names = [name for name in _BY_PYTEST_OPTION if bare == name or bare.startswith(f"{name}-")]
    return _BY_PYTEST_OPTION[max(names, key=len)] if names else None


def plugin_of_ini(name: str) -> str | None:
    """The plug-in that knows an option of pytest's configuration file."""
    return _BY_INI.get(name)


def plugin_of_fixture(name: str) -> str | None:
    """The plug-in that brings a fixture."""
    return _BY_FIXTURE.get(name)


def plugin_of_mark(name: str) -> str | None:
    """The plug-in that gives a mark its meaning."""
    return _BY_MARK.get(name)
