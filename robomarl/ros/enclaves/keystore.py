"""`Keystore`: certificates and signed permissions of a team's enclaves (SROS2), without the `ros2`
command.

    FOLDER/private/ca.key.pem                 signs all enclaves; stays with the operator
    FOLDER/public/ca.cert.pem
    FOLDER/enclaves/NAMESPACE/NODE/...        six files of one node, all that its machine gets

The files are those that `ros2 security create_keystore` and `create_enclave` make: keys on the
curve P-256 (DDS Security 1.1, 9.3.1), and S/MIME with a detached signature around governance and
permissions (9.4.1.1, 9.4.1.2).
"""

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, cast

from robomarl.core.config import UserError
from robomarl.fleet.trust.keys import keys_dir
from robomarl.fleet.trust.strict_file import read_own
from robomarl.ros.enclaves.rights_terms import Rights
from robomarl.ros.enclaves.security_xml import Validity, governance_xml, permissions_xml

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey as Key
    from cryptography.x509 import Certificate

LASTS = timedelta(days=3650)
EARLY = timedelta(days=1)
"""Largest difference between the clocks of a team: certificates and permissions are valid that much earlier."""
CA_KEY, CA_CERT = Path("private", "ca.key.pem"), Path("public", "ca.cert.pem")
CERT, KEY = "cert.pem", "key.pem"
CA_COPIES = ("identity_ca.cert.pem", "permissions_ca.cert.pem")
GOVERNANCE, PERMISSIONS = "governance.p7s", "permissions.p7s"
FILES = (CERT, KEY, *CA_COPIES, GOVERNANCE, PERMISSIONS)
"""Files of one enclave."""


def keystore_of(fleet: str) -> "Keystore":
    """The operator's keystore of a fleet, beside the keys that sign bundles."""
    return Keystore(keys_dir() / "sros2" / fleet)


class Keystore:
    """Certificate authority of one fleet, and the files that it has signed."""

    def __init__(self, folder: Path) -> None:
        """Name the folder; it need not be there yet."""
        self.folder = folder

    def write(self, rights: dict[str, Rights], domain_id: int) -> None:
        """Make or renew the enclaves of a team. Existing keys stay, permissions are written again.

        Args:
            rights: rights by enclave.
            domain_id: ROS domain in which they are valid.

        Raises:
            UserError: the folder can't be written, or its present content can't be read.
        """
        try:
            ca_key, ca = self._authority()
            governance = _signed(governance_xml(domain_id), ca_key, ca)
            for enclave, allowed in rights.items():
                place = self._place(enclave)
                place.mkdir(parents=True, exist_ok=True, mode=0o700)
                validity = Validity(datetime.now(UTC) - EARLY, datetime.now(UTC) + LASTS)
                permissions = permissions_xml(enclave, allowed, domain_id, validity)
                self._identify(place, enclave, ca_key, ca)
                for name in CA_COPIES:
                    (place / name).write_bytes(_pem(ca))
                (place / GOVERNANCE).write_bytes(governance)
                (place / PERMISSIONS).write_bytes(_signed(permissions, ca_key, ca))
        except (OSError, ValueError, TypeError) as error:
            raise UserError(
                f"{self.folder}: {error}; mend or remove the folder, and set all robots up again."
            ) from None

    def files(self, enclaves: list[str]) -> dict[str, bytes]:
        """Return the files for the machine of these enclaves, by path in its own keystore, never the
        authority's key.

        Raises:
            UserError: a file is missing, a link, open to other users, or can't be read.
        """
        found = [self._place(enclave) / name for enclave in enclaves for name in FILES]
        return {path.relative_to(self.folder).as_posix(): _content(path, path.name == KEY) for path in found}

    def _place(self, enclave: str) -> Path:
        return self.folder / "enclaves" / enclave.lstrip("/")

    def _authority(self) -> tuple["Key", "Certificate"]:
        """Key and certificate, made the first time."""
        from cryptography.hazmat.primitives.serialization import load_pem_private_key
        from cryptography.x509 import load_pem_x509_certificate

        key_file, cert_file = self.folder / CA_KEY, self.folder / CA_CERT
        if not (_is_there(key_file) or _is_there(cert_file)):
            key = _new_key()
            cert_file.parent.mkdir(parents=True, exist_ok=True)
            cert_file.write_bytes(_pem(_certificate(self.folder.name, key, None)))
            _write_secret(key_file, key)
        # One of the two alone is no reason for a new authority, which no robot of the team would know.
        made = cast("Key", load_pem_private_key(_content(key_file, True), None))
        certificate = load_pem_x509_certificate(_content(cert_file))
        if made.public_key() != certificate.public_key():
            raise ValueError(f"{CA_CERT} is not the certificate of {CA_KEY}")
        return made, certificate

    def _identify(self, place: Path, enclave: str, ca_key: "Key", ca: "Certificate") -> None:
        """Make key and certificate of an enclave; those that are there must be its own, and of this authority."""
        if not (_is_there(place / KEY) or _is_there(place / CERT)):
            key = _new_key()
            (place / CERT).write_bytes(_pem(_certificate(enclave, key, (ca_key, ca))))
            _write_secret(place / KEY, key)
        _check_identity(_content(place / KEY, True), _content(place / CERT), enclave, ca)


def _check_identity(pem: bytes, certificate: bytes, enclave: str, ca: "Certificate") -> None:
    """Raise `ValueError` where a certificate is of another name, key or authority, or its time is over."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.serialization import load_pem_private_key
    from cryptography.x509 import load_pem_x509_certificate
    from cryptography.x509.oid import NameOID

    key = load_pem_private_key(pem, None)
    found = load_pem_x509_certificate(certificate)
    try:
        found.verify_directly_issued_by(ca)
    except InvalidSignature:
        raise ValueError(f"enclave {enclave}: another authority signed its certificate") from None
    names = [attribute.value for attribute in found.subject.get_attributes_for_oid(NameOID.COMMON_NAME)]
    if names != [enclave] or key.public_key() != found.public_key():
        raise ValueError(f"enclave {enclave}: its certificate is that of another enclave or key")
    if found.not_valid_after_utc < datetime.now(UTC):
        raise ValueError(f"enclave {enclave}: its certificate is over since {found.not_valid_after_utc:%Y-%m-%d}")


def _is_there(path: Path) -> bool:
    """True also for a link to nowhere."""
    return os.path.lexists(path)


def _content(path: Path, kept_secret: bool = False) -> bytes:
    """Content of a file of the keystore.

    Raises:
        UserError: it is missing, a link, open to other users, or can't be read.
    """
    if (content := read_own(path, kept_secret)) is None:
        raise UserError(f"{path}: is missing; put it back, or remove the keystore and set all robots up again.")
    return content


def _new_key() -> "Key":
    from cryptography.hazmat.primitives.asymmetric import ec

    return ec.generate_private_key(ec.SECP256R1())


def _certificate(name: str, key: "Key", authority: "tuple[Key, Certificate] | None") -> "Certificate":
    """A certificate of a name; without an authority it signs itself, and may sign others."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes
    from cryptography.x509.oid import NameOID

    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    signer, issuer = (key, subject) if authority is None else (authority[0], authority[1].subject)
    may_sign, now = authority is None, datetime.now(UTC)
    limits = x509.BasicConstraints(ca=may_sign, path_length=1 if may_sign else None)
    made = x509.CertificateBuilder(issuer, subject, key.public_key(), x509.random_serial_number())
    made = made.not_valid_before(now - EARLY).not_valid_after(now + LASTS)
    return made.add_extension(limits, critical=may_sign).sign(signer, hashes.SHA256())


def _signed(content: bytes, key: "Key", certificate: "Certificate") -> bytes:
    """S/MIME: the text, and a detached PKCS#7 signature."""
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.serialization import Encoding, pkcs7

    made = pkcs7.PKCS7SignatureBuilder().set_data(content).add_signer(certificate, key, hashes.SHA256())
    return made.sign(Encoding.SMIME, [pkcs7.PKCS7Options.Text, pkcs7.PKCS7Options.DetachedSignature])


def _pem(certificate: "Certificate") -> bytes:
    from cryptography.hazmat.primitives.serialization import Encoding

    return certificate.public_bytes(Encoding.PEM)


def _write_secret(path: Path, key: "Key") -> None:
    """Write a private key that only its owner can read."""
    from cryptography.hazmat.primitives import serialization as form

    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    pem = key.private_bytes(form.Encoding.PEM, form.PrivateFormat.PKCS8, form.NoEncryption())
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as stream:
        stream.write(pem)
