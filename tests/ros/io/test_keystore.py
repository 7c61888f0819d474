"""A keystore of SROS2, held to what openssl and the schemas of DDS Security say."""

import os
import shutil
import stat
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path
from xml.etree import ElementTree as Xml

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec

from robomarl.core.config import UserError
from robomarl.core.hardware.fleet import load_fleet
from robomarl.ros.enclaves.keystore import FILES, Keystore
from robomarl.ros.enclaves.rights import rights_of
from robomarl.ros.enclaves.rights_terms import Rights
from robomarl.ros.enclaves.security_xml import GRAPH, Validity, dds_topics, governance_xml, permissions_xml

needs_openssl = pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")
NODES = ("policy_node", "vehicle_node")
DOMAIN = 43
NODE = "/robot_1/policy_node"
NOW = datetime(2026, 11, 23, 12, 0, 0, tzinfo=UTC)
GRANT = ["subject_name", "validity", "allow_rule", "default"]
RULE = [
    "domains", "allow_unauthenticated_participants", "enable_join_access_control", "discovery_protection_kind",
    "liveliness_protection_kind", "rtps_protection_kind", "topic_access_rules",
]  # fmt: skip
TOPIC_RULE = [
    "topic_expression", "enable_discovery_protection", "enable_liveliness_protection", "enable_read_access_control",
    "enable_write_access_control", "metadata_protection_kind", "data_protection_kind",
]  # fmt: skip
"""Elements in the order in which the schemas omg_shared_ca_*.xsd want them."""


@pytest.fixture(scope="module")
def keystore(tmp_path_factory: pytest.TempPathFactory) -> Keystore:
    made = Keystore(tmp_path_factory.mktemp("sros2") / "lab")
    made.write(rights_of(load_fleet("local_4")), DOMAIN)
    return made


def place(keystore: Keystore, node: str = NODE) -> Path:
    return keystore.folder / "enclaves" / node[1:]


def openssl(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["openssl", *words], capture_output=True, text=True)


def signed_by(signed: Path, authority: Path) -> subprocess.CompletedProcess[str]:
    return openssl("smime", "-verify", "-text", "-in", signed, "-CAfile", authority, "-purpose", "any")


@needs_openssl
@pytest.mark.parametrize("file", ["governance.p7s", "permissions.p7s"])
def test_openssl_takes_what_the_authority_signed_and_nothing_else(keystore: Keystore, tmp_path: Path, file: str):
    signed, authority = place(keystore) / file, place(keystore) / "permissions_ca.cert.pem"
    found = signed_by(signed, authority)
    assert found.returncode == 0, found.stderr
    assert Xml.fromstring(found.stdout).tag == "dds"
    changed = tmp_path / file
    changed.write_bytes(signed.read_bytes().replace(b"<id>43</id>", b"<id>44</id>"))
    assert signed_by(changed, authority).returncode != 0
    other = Keystore(tmp_path / "other")
    other.write({}, DOMAIN)
    assert signed_by(signed, other.folder / "public/ca.cert.pem").returncode != 0


@needs_openssl
def test_openssl_verifies_every_nodes_certificate(keystore: Keystore):
    for node in rights_of(load_fleet("local_4")):
        found = openssl(
            "verify", "-CAfile", place(keystore, node) / "identity_ca.cert.pem", place(keystore, node) / "cert.pem"
        )
        assert found.returncode == 0, found.stderr


def test_every_node_has_a_key_of_its_own_with_its_name_on_the_curve_that_the_standard_wants(keystore: Keystore):
    seen = set()
    for node in rights_of(load_fleet("local_4")):
        assert {file.name for file in place(keystore, node).iterdir()} == set(FILES)
        certificate = x509.load_pem_x509_certificate((place(keystore, node) / "cert.pem").read_bytes())
        key = certificate.public_key()
        assert isinstance(key, ec.EllipticCurvePublicKey)
        assert key.curve.name == "secp256r1"
        assert certificate.subject.rfc4514_string() == f"CN={node}"
        assert not certificate.extensions.get_extension_for_class(x509.BasicConstraints).value.ca
        seen.add(key.public_numbers().x)
    assert len(seen) == len(rights_of(load_fleet("local_4")))


def test_private_keys_are_for_nobody_else_and_the_authoritys_is_on_no_robot(keystore: Keystore):
    keys = list(keystore.folder.rglob("*key.pem"))
    assert len(keys) == len(rights_of(load_fleet("local_4"))) + 1
    assert {stat.S_IMODE(key.stat().st_mode) for key in keys} == {0o600}
    files = keystore.files([NODE])
    assert set(files) == {f"enclaves{NODE}/{name}" for name in FILES}
    authority = (keystore.folder / "private/ca.key.pem").read_bytes()
    assert authority not in files.values()


def test_a_second_setup_keeps_the_keys_and_renews_the_permissions(tmp_path: Path):
    made, node = Keystore(tmp_path / "lab"), "/a/policy_node"
    made.write({node: Rights(frozenset({"/a/command"}))}, 1)
    before = made.files([node])
    made.write({node: Rights(frozenset({"/a/command", "/a/tick"}))}, 2)
    after = made.files([node])
    changed = {Path(name).name for name in before if before[name] != after[name]}
    assert changed == {"permissions.p7s", "governance.p7s"}
    assert b"rt/a/tick" in after[f"enclaves{node}/permissions.p7s"]


def test_a_damaged_authority_is_one_sentence(tmp_path: Path):
    made = Keystore(tmp_path / "lab")
    made.write({}, 1)
    (tmp_path / "lab/private/ca.key.pem").write_text("no key")
    with pytest.raises(UserError, match="mend or remove the folder"):
        made.write({}, 1)


def swap_certificates(folder: Path) -> None:
    one, two = (folder / f"enclaves/a/{name}/cert.pem" for name in ("policy_node", "vehicle_node"))
    first, second = one.read_bytes(), two.read_bytes()
    one.write_bytes(second)
    two.write_bytes(first)


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (lambda folder: (folder / "private/ca.key.pem").unlink(), "ca.key.pem: is missing"),
        (lambda folder: (folder / "public/ca.cert.pem").unlink(), "ca.cert.pem: is missing"),
        (lambda folder: (folder / "public/ca.cert.pem").write_bytes(b""), "mend or remove the folder"),
        (lambda folder: (folder / "private/ca.key.pem").chmod(0o640), "other users can read it"),
        (lambda folder: (folder / "enclaves/a/policy_node/key.pem").unlink(), "key.pem: is missing"),
        (lambda folder: (folder / "enclaves/a/policy_node/key.pem").write_bytes(b""), "mend or remove the folder"),
        (lambda folder: (folder / "enclaves/a/policy_node/key.pem").chmod(0o644), "other users can read it"),
        (swap_certificates, "is that of another enclave or key"),
    ],
)
def test_an_authority_or_enclave_that_is_not_whole_is_refused_and_not_made_anew(tmp_path: Path, damage, says: str):
    made, rights = Keystore(tmp_path / "lab"), {f"/a/{name}": Rights(frozenset()) for name in NODES}
    made.write(rights, 1)
    damage(made.folder)
    with pytest.raises(UserError, match=says) as refused:
        made.write(rights, 1)
    assert "\n" not in str(refused.value)


def test_an_enclave_of_another_authority_is_refused(tmp_path: Path):
    made, other = Keystore(tmp_path / "lab"), Keystore(tmp_path / "other")
    for keystore in (made, other):
        keystore.write({"/a/policy_node": Rights(frozenset())}, 1)
    for name in ("cert.pem", "key.pem"):
        (place(made, "/a/policy_node") / name).write_bytes((place(other, "/a/policy_node") / name).read_bytes())
    with pytest.raises(UserError, match="another authority signed its certificate|Issuer"):
        made.write({"/a/policy_node": Rights(frozenset())}, 1)


def test_what_goes_to_a_robot_is_whole(tmp_path: Path):
    made = Keystore(tmp_path / "lab")
    made.write({"/a/policy_node": Rights(frozenset())}, 1)
    (place(made, "/a/policy_node") / "governance.p7s").unlink()
    with pytest.raises(UserError, match="governance.p7s: is missing"):
        made.files(["/a/policy_node"])


def test_a_robot_that_is_another_user_can_not_read_the_folder(tmp_path: Path):
    Keystore(tmp_path / "lab").write({}, 1)
    assert not os.stat(tmp_path / "lab/private").st_mode & 0o077


def test_permissions_have_the_elements_of_the_schema_in_its_order():
    text = permissions_xml(NODE, Rights(frozenset({"/b", "/a"}), frozenset({"/c"})), DOMAIN,
                           Validity(NOW, NOW + timedelta(days=1)))  # fmt: skip
    root = Xml.fromstring(text)
    (grant,) = root.findall("permissions/grant")
    assert ([child.tag for child in root], [child.tag for child in grant]) == (["permissions"], GRANT)
    assert (grant.get("name"), grant.findtext("subject_name")) == (NODE, f"CN={NODE}")
    assert [(e.tag, e.text) for e in grant.find("validity") or ()] == [
        ("not_before", "2026-11-23T12:00:00"), ("not_after", "2026-11-24T12:00:00")]  # fmt: skip
    rule = grant.find("allow_rule")
    assert rule is not None
    assert [child.tag for child in rule] == ["domains", "publish", "subscribe"]
    assert rule.findtext("domains/id") == str(DOMAIN)
    assert [e.text for e in rule.findall("publish/topics/topic")] == [GRAPH, "rt/a", "rt/b"]
    assert [e.text for e in rule.findall("subscribe/topics/topic")] == [GRAPH, "rt/c"]
    assert grant.findtext("default") == "DENY"


def test_governance_has_the_elements_of_the_schema_in_its_order_and_lets_nobody_in_without_a_certificate():
    (rule,) = Xml.fromstring(governance_xml(DOMAIN)).findall("domain_access_rules/domain_rule")
    assert [child.tag for child in rule] == RULE
    assert rule.findtext("domains/id") == str(DOMAIN)
    (topic,) = rule.findall("topic_access_rules/topic_rule")
    assert [child.tag for child in topic] == TOPIC_RULE
    assert topic.findtext("topic_expression") == "*"
    words = {child.tag: child.text for child in (*rule, *topic)}
    assert words["allow_unauthenticated_participants"] == "false"
    assert {text for tag, text in words.items() if tag.startswith("enable")} == {"true"}
    assert {text for tag, text in words.items() if tag.endswith("kind")} == {"ENCRYPT"}


def test_a_service_is_two_topics():
    writes, reads = dds_topics(Rights(serves=frozenset({"/a/arm"}), calls=frozenset({"/all/land"})))
    assert writes == sorted([GRAPH, "rr/a/armReply", "rq/all/landRequest"])
    assert reads == sorted([GRAPH, "rq/a/armRequest", "rr/all/landReply"])
