"""Which distribution provides a module, where the two are called differently."""

import re

from packaging.utils import canonicalize_name

_BY_MODULE = {
    "_pytest": "pytest", "absl": "absl-py", "allauth": "django-allauth", "argon2": "argon2-cffi",
    "asgiref": "asgiref", "attr": "attrs", "babel": "Babel", "barcode": "python-barcode",
    "betamax": "betamax", "Bio": "biopython", "bluetooth": "PyBluez", "bs4": "beautifulsoup4",
    "bson": "pymongo", "builtins": "future", "cairo": "pycairo", "can": "python-can",
    "cassandra": "cassandra-driver", "community": "python-louvain", "consul": "python-consul",
    "corsheaders": "django-cors-headers", "cpuinfo": "py-cpuinfo",
    "crispy_forms": "django-crispy-forms", "crontab": "python-crontab", "Crypto": "pycryptodome",
    "Cryptodome": "pycryptodomex", "cv2": "opencv-python-headless", "daemon": "python-daemon",
    "dateutil": "python-dateutil", "debug_toolbar": "django-debug-toolbar",
    "decouple": "python-decouple", "discord": "discord.py", "distutils": "setuptools",
    "django": "Django", "django_filters": "django-filter", "dns": "dnspython",
    "docx": "python-docx", "dotenv": "python-dotenv", "editor": "python-editor",
    "enchant": "pyenchant", "engineio": "python-engineio", "environ": "django-environ",
    "factory": "factory-boy", "faiss": "faiss-cpu", "faker": "Faker", "fitz": "PyMuPDF",
    "flaky": "flaky", "flask": "Flask", "flask_sqlalchemy": "Flask-SQLAlchemy", "flaskext": "Flask",
    "gi": "PyGObject", "git": "GitPython", "github": "PyGithub", "gitlab": "python-gitlab",
    "gnupg": "python-gnupg", "google": "protobuf", "google.api": "googleapis-common-protos",
    "google.api_core": "google-api-core", "google.auth": "google-auth",
    "google.oauth2": "google-auth", "google.protobuf": "protobuf",
    "google.rpc": "googleapis-common-protos", "google.type": "googleapis-common-protos",
    "google_auth_oauthlib": "google-auth-oauthlib", "googleapiclient": "google-api-python-client",
    "gridfs": "pymongo", "grpc": "grpcio", "grpc_tools": "grpcio-tools", "hamcrest": "PyHamcrest",
    "hid": "hidapi", "httpbin": "httpbin", "imblearn": "imbalanced-learn", "IPython": "ipython",
    "jenkins": "python-jenkins", "jinja2": "Jinja2", "jks": "pyjks", "jose": "python-jose",
    "jsonrpc": "json-rpc", "jwt": "PyJWT", "kafka": "kafka-python",
    "keystoneclient": "python-keystoneclient", "ldap": "python-ldap",
    "Levenshtein": "python-Levenshtein", "linkify_it": "linkify-it-py", "lxml": "lxml",
    "lz4": "lz4", "magic": "python-magic", "markdown": "Markdown", "markdown_it": "markdown-it-py",
    "MarkupPy": "MarkupPy", "memcache": "python-memcached", "mimeparse": "python-mimeparse",
    "mock": "mock", "model_utils": "django-model-utils", "moto": "moto",
    "mpl_toolkits": "matplotlib", "msgpack": "msgpack", "multipart": "python-multipart",
    "mysql": "mysql-connector-python", "MySQLdb": "mysqlclient", "nacl": "PyNaCl",
    "nmap": "python-nmap", "nose": "nose", "novaclient": "python-novaclient", "odf": "odfpy",
    "OpenGL": "PyOpenGL", "OpenSSL": "pyOpenSSL", "openstack": "openstacksdk",
    "opentelemetry": "opentelemetry-api", "opentelemetry.baggage": "opentelemetry-api",
    "opentelemetry.context": "opentelemetry-api", "opentelemetry.metrics": "opentelemetry-api",
    "opentelemetry.propagate": "opentelemetry-api", "opentelemetry.trace": "opentelemetry-api",
    "osgeo": "GDAL", "past": "future", "pdfminer": "pdfminer.six", "pexpect": "pexpect",
    "PIL": "Pillow", "pkg_resources": "setuptools<82", "pkginfo": "pkginfo", "playhouse": "peewee",
    "pptx": "python-pptx", "progressbar": "progressbar2", "psycopg2": "psycopg2-binary",
    "pwn": "pwntools", "pyaudio": "PyAudio", "pydispatch": "PyDispatcher", "pygments": "Pygments",
    "pylab": "matplotlib", "pymysql": "PyMySQL", "pyparsing": "pyparsing",
    "pytest_httpbin": "pytest-httpbin", "pytestqt": "pytest-qt",
    "python_multipart": "python-multipart", "pythonjsonlogger": "python-json-logger",
    "pywt": "PyWavelets", "pyximport": "Cython", "rapidjson": "python-rapidjson",
    "redis_lock": "python-redis-lock", "rest_framework": "djangorestframework",
    "rfc3339_validator": "rfc3339-validator", "ruamel": "ruamel.yaml", "serial": "pyserial",
    "serial_asyncio": "pyserial-asyncio", "setuptools": "setuptools", "sh": "sh",
    "shapefile": "pyshp", "simple_history": "django-simple-history",
    "simple_parsing": "simple-parsing", "skimage": "scikit-image", "sklearn": "scikit-learn",
    "skopt": "scikit-optimize", "slack": "slackclient", "slugify": "python-slugify",
    "snappy": "python-snappy", "socketio": "python-socketio", "socks": "PySocks",
    "sqlalchemy": "SQLAlchemy", "stdnum": "python-stdnum", "Stemmer": "PyStemmer",
    "stomp": "stomp.py", "subunit": "python-subunit", "telegram": "python-telegram-bot",
    "tlz": "toolz", "tornado": "tornado", "trustme": "trustme", "twitter": "python-twitter",
    "typeguard": "typeguard", "ujson": "ujson", "umap": "umap-learn",
    "umsgpack": "u-msgpack-python", "unittest2": "unittest2", "usb": "pyusb", "vcr": "vcrpy",
    "websocket": "websocket-client", "werkzeug": "Werkzeug", "win32api": "pywin32",
    "wx": "wxPython", "xdist": "pytest-xdist", "Xlib": "python-xlib", "xlwt": "xlwt",
    "xmlrunner": "unittest-xml-reporting", "xprocess": "pytest-xprocess", "yaml": "PyYAML",
    "zmq": "pyzmq", "zope": "zope.interface",
}  # fmt: skip
"""Modules, as what is in the distributions' wheels says. Where several distributions have the same
module, the one that most people mean. pkg_resources left setuptools with 82."""

_WITHOUT_WHEELS = frozenset({"bluetooth", "osgeo", "wx"})
"""To be built they need large libraries: nothing that a mere mention is worth."""

_NAMESPACES = {
    "azure": 2, "azure.ai": 3, "azure.data": 3, "azure.keyvault": 3, "azure.mgmt": 3,
    "azure.monitor": 3, "azure.search": 3, "azure.storage": 3, "backports": 2, "collective": 2,
    "google": 2, "google.ads": 3, "google.cloud": 3, "jaraco": 2, "opentelemetry": 2,
    "opentelemetry.exporter": 3, "opentelemetry.instrumentation": 3, "paste": 2, "plone": 2,
    "plone.app": 3, "repoze": 2, "ruamel": 2, "sphinxcontrib": 2, "zope": 2,
}  # fmt: skip
"""Packages that many distributions share → so many parts of a module's name tell which it is."""

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


def importable(name: str) -> str:
    """The part of a dotted name for which a distribution answers: the first, but for namespaces.

    "yaml.constructor" → "yaml", "google.cloud.storage.blob" → "google.cloud.storage".
    """
    parts = name.split(".")
    depth = _NAMESPACES.get(".".join(parts[:2]), _NAMESPACES.get(parts[0], 1))
    return ".".join(parts[:depth])


def is_namespace(name: str) -> bool:
    """Whether the name alone does not say which distribution is meant."""
    return name in _NAMESPACES


def requirement_of(module: str) -> str:
    """What brings an importable module; where we know nothing, a distribution of the same name."""
    bare = re.sub(r"^(google\.cloud\.\w+?)_v\d\w*$", r"\1", module)  # a version of the interface
    name, less, version = _BY_MODULE.get(module, bare).partition("<")
    return f"{canonicalize_name(name)}{less}{version}"


def is_known(module: str) -> bool:
    """Whether the module's distribution is known, not guessed, and has wheels."""
    return (module in _BY_MODULE or "." in module) and module not in _WITHOUT_WHEELS


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
