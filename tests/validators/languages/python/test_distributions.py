"""Which distribution provides a module: the right one, not the one of the same name."""

import pytest

from validators.languages.python import distributions

# As RECORD of the distributions' wheels says, for the imports that are most often called otherwise.
RECORDED = """
absl absl-py
allauth django-allauth
argon2 argon2-cffi
attr attrs
azure.core azure-core
azure.identity azure-identity
azure.storage.blob azure-storage-blob
backports.zoneinfo backports-zoneinfo
barcode python-barcode
Bio biopython
bs4 beautifulsoup4
bson pymongo
can python-can
cassandra cassandra-driver
consul python-consul
corsheaders django-cors-headers
cpuinfo py-cpuinfo
crispy_forms django-crispy-forms
crontab python-crontab
Crypto pycryptodome
Cryptodome pycryptodomex
cv2 opencv-python-headless
daemon python-daemon
dateutil python-dateutil
debug_toolbar django-debug-toolbar
decouple python-decouple
discord discord-py
django_filters django-filter
dns dnspython
docx python-docx
dotenv python-dotenv
engineio python-engineio
environ django-environ
factory factory-boy
faiss faiss-cpu
fitz pymupdf
git gitpython
github pygithub
gitlab python-gitlab
gnupg python-gnupg
google.api_core google-api-core
google.auth google-auth
google.cloud.storage google-cloud-storage
google.oauth2 google-auth
google.protobuf protobuf
googleapiclient google-api-python-client
gridfs pymongo
grpc grpcio
grpc_tools grpcio-tools
hamcrest pyhamcrest
hid hidapi
imblearn imbalanced-learn
jaraco.functools jaraco-functools
jenkins python-jenkins
jose python-jose
jsonrpc json-rpc
jwt pyjwt
kafka kafka-python
Levenshtein python-levenshtein
linkify_it linkify-it-py
lxml lxml
magic python-magic
markdown_it markdown-it-py
memcache python-memcached
model_utils django-model-utils
mpl_toolkits matplotlib
multipart python-multipart
mysql mysql-connector-python
nacl pynacl
openstack openstacksdk
OpenSSL pyopenssl
opentelemetry.sdk opentelemetry-sdk
opentelemetry.trace opentelemetry-api
pdfminer pdfminer-six
PIL pillow
pkg_resources setuptools<82
playhouse peewee
pptx python-pptx
progressbar progressbar2
psycopg2 psycopg2-binary
pwn pwntools
pytestqt pytest-qt
pythonjsonlogger python-json-logger
pywt pywavelets
rapidjson python-rapidjson
rest_framework djangorestframework
ruamel.yaml ruamel-yaml
serial pyserial
serial_asyncio pyserial-asyncio
shapefile pyshp
simple_history django-simple-history
skimage scikit-image
sklearn scikit-learn
skopt scikit-optimize
slack slackclient
slugify python-slugify
snappy python-snappy
socketio python-socketio
socks pysocks
sphinxcontrib.websupport sphinxcontrib-websupport
stdnum python-stdnum
Stemmer pystemmer
stomp stomp-py
subunit python-subunit
telegram python-telegram-bot
tlz toolz
twitter python-twitter
umap umap-learn
usb pyusb
vcr vcrpy
websocket websocket-client
xdist pytest-xdist
Xlib python-xlib
xmlrunner unittest-xml-reporting
yaml pyyaml
zmq pyzmq
zope.component zope-component
zope.interface zope-interface
"""


@pytest.mark.parametrize(
    ("module", "requirement"), [line.split() for line in RECORDED.split("\n") if line]
)
def test_a_module_names_its_distribution(module: str, requirement: str) -> None:
    inside = f"{module}.some.where"
    assert distributions.importable(module) == distributions.importable(inside) == module
    assert distributions.requirement_of(module) == requirement
    assert distributions.is_known(module)


@pytest.mark.parametrize(
    ("module", "requirement"),
    [
        ("freezegun", "freezegun"),  # of the same name
        ("some_thing", "some-thing"),
        ("MySQLdb", "mysqlclient"),  # these have no wheels
        ("ldap", "python-ldap"),
        ("osgeo", "gdal"),
        ("google.cloud.pubsub_v1", "google-cloud-pubsub"),
        ("zope", "zope-interface"),  # of a namespace alone, what most have
    ],
)
def test_what_no_wheel_tells(module: str, requirement: str) -> None:
    assert distributions.requirement_of(module) == requirement


@pytest.mark.parametrize("module", ["some_thing", "osgeo", "azure"])
def test_a_guess_is_not_known(module: str) -> None:
    assert not distributions.is_known(module)


@pytest.mark.parametrize(
    ("option", "plugin"),
    [
        ("--cov=pkg", "pytest-cov"),
        ("--cov-fail-under", "pytest-cov"),
        ("-n4", "pytest-xdist"),
        ("--asyncio-mode=auto", "pytest-asyncio"),
        ("--doctest-modules", None),
        ("--no-such", None),
    ],
)
def test_an_option_names_its_plugin(option: str, plugin: str | None) -> None:
    assert distributions.plugin_of_option(option) == plugin
