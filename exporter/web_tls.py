"""TLS settings of the web configuration, from exporter-toolkit's words to OpenSSL's."""

from __future__ import annotations

import os
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from exporter.files import MAX_CERTIFICATES_MIB, read_file
from exporter.web_tls_words import CIPHERS, CLIENT_AUTH, CURVES, TLS13_CIPHERS, VERSIONS
from exporter.yaml_document import Document, FaultError, KeyPath

_SECTION = "tls_server_config"

_FILE_KEYS = ("cert_file", "key_file", "client_ca_file")
_KEYS = frozenset(
    {
        *_FILE_KEYS,
        "cert",
        "key",
        "client_ca",
        "client_auth_type",
        "client_allowed_sans",
        "min_version",
        "max_version",
        "cipher_suites",
        "prefer_server_cipher_suites",
        "curve_preferences",
    }
)


@dataclass(frozen=True)
class TLS:
    """What the section comes to: a context, and names asked of clients."""

    context: ssl.SSLContext
    allowed_sans: frozenset[str]


def files(document: Document, base: Path) -> tuple[Path, ...]:
    """Return the files that the section names, whether they are there or not."""
    names = (document.value((_SECTION, key)) for key in _FILE_KEYS)
    return tuple(base / name for name in names if isinstance(name, str) and name)


def read(document: Document, base: Path) -> TLS | None:
    """Return the TLS settings of ``document``, None if it has none.

    Args:
        document: The web configuration.
        base: What relative file names begin at: the folder of the configuration.

    Raises:
        FaultError: They cannot be used.
    """
    if not document.mapping((_SECTION,)):
        return None
    document.only((_SECTION,), _KEYS)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = _version(document, "min_version", "TLS12")
    context.maximum_version = _version(document, "max_version", "TLS13")
    if context.minimum_version > context.maximum_version:
        raise FaultError(document, (_SECTION, "min_version"), "is above max_version")
    context.options |= ssl.OP_NO_COMPRESSION
    if document.boolean((_SECTION, "prefer_server_cipher_suites")) is False:
        context.options &= ~ssl.OP_CIPHER_SERVER_PREFERENCE
    else:
        context.options |= ssl.OP_CIPHER_SERVER_PREFERENCE
    _set_ciphers(document, context)
    _set_curve(document, context)
    _load_certificate(document, base, context)
    _load_client_ca(document, base, context)
    sans = frozenset(document.strings((_SECTION, "client_allowed_sans")))
    if sans and context.verify_mode is not ssl.CERT_REQUIRED:
        raise FaultError(
            document,
            (_SECTION, "client_allowed_sans"),
            "needs client_auth_type: RequireAndVerifyClientCert",
        )
    return TLS(context, sans)


def _version(document: Document, key: str, default: str) -> ssl.TLSVersion:
    text = document.string((_SECTION, key)) or default
    try:
        return VERSIONS[text]
    except KeyError:
        raise FaultError(
            document, (_SECTION, key), f"must be one of {', '.join(VERSIONS)}"
        ) from None


def _set_ciphers(document: Document, context: ssl.SSLContext) -> None:
    path: KeyPath = (_SECTION, "cipher_suites")
    names = document.strings(path)
    for position, name in enumerate(names):
        if name not in CIPHERS and name not in TLS13_CIPHERS:
            raise FaultError(
                document, (*path, position), f"{name!r} is no cipher suite that is offered"
            )
    chosen = [CIPHERS[name] for name in names if name in CIPHERS]
    if chosen:
        context.set_ciphers(":".join(chosen))


def _set_curve(document: Document, context: ssl.SSLContext) -> None:
    path: KeyPath = (_SECTION, "curve_preferences")
    names = document.strings(path)
    for position, name in enumerate(names):
        if name not in CURVES:
            raise FaultError(document, (*path, position), f"must be one of {', '.join(CURVES)}")
    if len(names) > 1:
        raise FaultError(document, path, "can have one entry: Python's TLS takes no list of curves")
    if names:
        context.set_ecdh_curve(CURVES[names[0]])


def _load_certificate(document: Document, base: Path, context: ssl.SSLContext) -> None:
    certificate_key = _present(document, "cert_file", "cert")
    private_key = _present(document, "key_file", "key")
    with (
        _file(document, base, certificate_key) as certificate,
        _file(document, base, private_key) as key,
    ):
        try:
            # A key with a passphrase would make OpenSSL ask for it on the terminal.
            context.load_cert_chain(certificate, key, password=_no_passphrase)
        except (ssl.SSLError, OSError, _PassphraseError) as error:
            raise FaultError(
                document, (_SECTION, certificate_key), f"and {private_key}: {_problem(error)}"
            ) from error


def _load_client_ca(document: Document, base: Path, context: ssl.SSLContext) -> None:
    path: KeyPath = (_SECTION, "client_auth_type")
    name = document.string(path) or "NoClientCert"
    if name not in CLIENT_AUTH:
        raise FaultError(document, path, f"must be one of {', '.join(CLIENT_AUTH)}")
    given = [key for key in ("client_ca", "client_ca_file") if document.value((_SECTION, key))]
    if CLIENT_AUTH[name] is ssl.CERT_NONE:
        if given:
            raise FaultError(
                document, (_SECTION, given[0]), "needs a client_auth_type that verifies"
            )
        return
    key = _present(document, "client_ca_file", "client_ca")
    with _file(document, base, key) as authority:
        try:
            context.load_verify_locations(authority)
        except (ssl.SSLError, OSError) as error:
            raise FaultError(document, (_SECTION, key), _problem(error)) from error
        context.verify_mode = CLIENT_AUTH[name]


def _present(document: Document, file_key: str, inline_key: str) -> str:
    """Return which of the two keys is given; exactly one must be."""
    given = [key for key in (file_key, inline_key) if document.string((_SECTION, key))]
    if not given:
        raise FaultError(document, (_SECTION, file_key), "is missing")
    if len(given) > 1:
        raise FaultError(
            document, (_SECTION, inline_key), f"and {file_key} are both there: choose one"
        )
    return given[0]


@contextmanager
def _file(document: Document, base: Path, key: str) -> Iterator[Path]:
    """Give the path of a file key's file, or of a file in memory with an inline key's text.

    OpenSSL reads private keys from files only; this one never touches a disk.
    """
    text = document.string((_SECTION, key)) or ""
    if key.endswith("_file"):
        path = base / text
        try:
            read_file(
                path, MAX_CERTIFICATES_MIB
            )  # OpenSSL would wait for a FIFO, and not say which of two files it misses
        except OSError as error:
            raise FaultError(
                document, (_SECTION, key), f"{path} cannot be read ({error.strerror})"
            ) from error
        yield path
        return
    descriptor = os.memfd_create("pem")
    try:
        os.write(descriptor, text.encode())
        yield Path(f"/proc/self/fd/{descriptor}")
    finally:
        os.close(descriptor)


class _PassphraseError(Exception):
    pass


def _no_passphrase() -> str:
    raise _PassphraseError


def _problem(error: Exception) -> str:
    if isinstance(error, _PassphraseError):
        return "the key has a passphrase, which cannot be given here"
    if isinstance(error, ssl.SSLError):
        if error.reason == "KEY_VALUES_MISMATCH":
            return "the key is not that of the certificate"
        return f"is no usable PEM ({error.reason or 'no certificate or key in it'})"
    if isinstance(error, OSError):
        return f"cannot be read ({error.strerror})"
    return str(error)
