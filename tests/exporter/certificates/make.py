"""Makes the certificates of this folder anew, valid from 2020 to 2120. Needs `cryptography`."""

import datetime
import ipaddress
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

HERE = Path(__file__).parent
PLAIN = serialization.NoEncryption()


def certificate(name, key, issuer_name, issuer_key, *extensions):
    builder = (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]))
        .issuer_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, issuer_name)]))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(datetime.datetime(2020, 1, 1))
        .not_valid_after(datetime.datetime(2120, 1, 1))
    )
    for extension, critical in extensions:
        builder = builder.add_extension(extension, critical)
    signed = builder.sign(issuer_key, hashes.SHA256())
    (HERE / f"{name}.pem").write_bytes(signed.public_bytes(serialization.Encoding.PEM))


def write_key(name, key, encryption=PLAIN):
    (HERE / f"{name}.key").write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, encryption)
    )


def authority(name):
    key = ec.generate_private_key(ec.SECP256R1())
    usage = x509.KeyUsage(
        **dict.fromkeys(
            (
                "digital_signature",
                "content_commitment",
                "key_encipherment",
                "data_encipherment",
                "key_agreement",
                "encipher_only",
                "decipher_only",
            ),
            False,
        ),
        key_cert_sign=True,
        crl_sign=True,
    )
    certificate(name, key, name, key, (x509.BasicConstraints(True, None), True), (usage, True))
    return name, key


def signed(name, issuer, *names):
    key = ec.generate_private_key(ec.SECP256R1())
    certificate(name, key, *issuer, (x509.SubjectAlternativeName(names), False))
    write_key(name, key)
    return key


ca, other = authority("ca"), authority("other-ca")
here = (
    x509.DNSName("localhost"),
    x509.IPAddress(ipaddress.ip_address("127.0.0.1")),
    x509.IPAddress(ipaddress.ip_address("::1")),
)
server_key = signed("server", ca, *here)
write_key("locked", server_key, serialization.BestAvailableEncryption(b"secret"))
signed("server-new", ca, *here)
signed("client", ca, x509.DNSName("prometheus.test"))
signed("client-other", ca, x509.DNSName("other.test"))
signed("stranger", other, x509.DNSName("prometheus.test"))
