"""Which Debian packages bring the headers, libraries and tools that builds miss."""

from collections.abc import Mapping, Sequence

_COMPILER = ("gcc", "libc6-dev")
_BY_NAME: Mapping[str, Sequence[str]] = {
    **dict.fromkeys(("gcc", "cc", "clang", "x86_64-linux-gnu-gcc"), _COMPILER),
    **dict.fromkeys(("g++", "c++", "x86_64-linux-gnu-g++"), (*_COMPILER, "g++")),
    "cmake": ("cmake", "make", "g++"),
    "make": ("make",),
    "ninja": ("ninja-build",),
    "pkg-config": ("pkg-config",),
    "cargo": ("cargo",),
    "rustc": ("cargo", "rustc"),
    "swig": ("swig",),
    "gfortran": ("gfortran",),
    "xml2-config": ("libxml2-dev", "libxslt1-dev", *_COMPILER),
    "xslt-config": ("libxml2-dev", "libxslt1-dev", *_COMPILER),
    "libxml/xmlversion.h": ("libxml2-dev", "libxslt1-dev"),
    "libxml/xpath.h": ("libxml2-dev", "libxslt1-dev"),
    "mysql_config": ("default-libmysqlclient-dev", *_COMPILER),
    "pg_config": ("libpq-dev", *_COMPILER),
    "libpq-fe.h": ("libpq-dev",),
    "ffi.h": ("libffi-dev",),
    "yaml.h": ("libyaml-dev",),
    "openssl/ssl.h": ("libssl-dev",),
    "openssl/opensslv.h": ("libssl-dev",),
    "zlib.h": ("zlib1g-dev",),
    "jpeglib.h": ("libjpeg-dev",),
    "ft2build.h": ("libfreetype6-dev",),
    "sqlite3.h": ("libsqlite3-dev",),
    "curl/curl.h": ("libcurl4-openssl-dev", "libssl-dev"),
    "curl-config": ("libcurl4-openssl-dev", "libssl-dev", *_COMPILER),
    "event.h": ("libevent-dev",),
    "ev.h": ("libev-dev",),
    "lber.h": ("libldap2-dev", "libsasl2-dev"),
    "ldap.h": ("libldap2-dev", "libsasl2-dev"),
    "sasl/sasl.h": ("libsasl2-dev",),
    "gmp.h": ("libgmp-dev",),
    "mpfr.h": ("libmpfr-dev",),
    "geos_c.h": ("libgeos-dev",),
    "snappy-c.h": ("libsnappy-dev",),
    "lzma.h": ("liblzma-dev",),
    "bzlib.h": ("libbz2-dev",),
    "hdf5.h": ("libhdf5-dev",),
    "cairo.h": ("libcairo2-dev", "pkg-config"),
    "krb5-config": ("libkrb5-dev",),
    "gssapi/gssapi.h": ("libkrb5-dev",),
    "portaudio.h": ("portaudio19-dev",),
    "ncurses.h": ("libncurses-dev",),
    "readline/readline.h": ("libreadline-dev",),
    "uuid/uuid.h": ("uuid-dev",),
    "zmq.h": ("libzmq3-dev",),
    "-lz": ("zlib1g-dev",),
    "-lssl": ("libssl-dev",),
    "-lcrypto": ("libssl-dev",),
    "-lffi": ("libffi-dev",),
    "-lpq": ("libpq-dev",),
}


def packages_of(name: str) -> Sequence[str]:
    """The packages for a missing header, `-l` library, `…-config` script or tool; maybe none."""
    return _BY_NAME.get(name, ())
