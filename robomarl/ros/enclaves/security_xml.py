"""Governance and permissions of DDS Security 1.1 (OMG formal/2018-04-01, 9.4.1) as XML. No ROS here.

ROS 2 puts `rt` before the name of a topic; a service is two topics, `rq...Request` and `rr...Reply`.
"""

from datetime import UTC, datetime
from typing import NamedTuple
from xml.etree import ElementTree as Xml

from robomarl.ros.enclaves.rights_terms import Rights

GRAPH = "ros_discovery_info"
"""ROS's own topic, without a prefix, that maps nodes to topics. Every node writes and reads it."""
PROTECTION = "ENCRYPT"
_INSTANCE = "http://www.w3.org/2001/XMLSchema-instance"
_SCHEMA = "http://www.omg.org/spec/DDS-SECURITY/20170901/omg_shared_ca_{}.xsd"


class Validity(NamedTuple):
    """Period in which a permission is valid, UTC."""

    begins: datetime
    ends: datetime


def dds_topics(rights: Rights) -> tuple[list[str], list[str]]:
    """Return the DDS names of the topics that a node (writes, reads)."""
    writes = {f"rt{name}" for name in rights.publishes} | {f"rr{name}Reply" for name in rights.serves}
    reads = {f"rt{name}" for name in rights.subscribes} | {f"rq{name}Request" for name in rights.serves}
    writes |= {f"rq{name}Request" for name in rights.calls}
    reads |= {f"rr{name}Reply" for name in rights.calls}
    return sorted({*writes, GRAPH}), sorted({*reads, GRAPH})


def permissions_xml(enclave: str, rights: Rights, domain_id: int, validity: Validity) -> bytes:
    """Return the permissions of one enclave; everything else is denied."""
    root = _root("permissions")
    grant = Xml.SubElement(Xml.SubElement(root, "permissions"), "grant", name=enclave)
    Xml.SubElement(grant, "subject_name").text = f"CN={enclave}"
    holds = Xml.SubElement(grant, "validity")
    for name, moment in (("not_before", validity.begins), ("not_after", validity.ends)):
        Xml.SubElement(holds, name).text = moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S")
    rule = Xml.SubElement(grant, "allow_rule")
    Xml.SubElement(Xml.SubElement(rule, "domains"), "id").text = str(domain_id)
    for act, names in zip(("publish", "subscribe"), dds_topics(rights), strict=True):
        listed = Xml.SubElement(Xml.SubElement(rule, act), "topics")
        for name in names:
            Xml.SubElement(listed, "topic").text = name
    Xml.SubElement(grant, "default").text = "DENY"
    return _text(root)


def governance_xml(domain_id: int) -> bytes:
    """Return the rules of a domain: only our certificates join, all traffic is encrypted and needs a permission."""
    root = _root("governance")
    rule = Xml.SubElement(Xml.SubElement(root, "domain_access_rules"), "domain_rule")
    Xml.SubElement(Xml.SubElement(rule, "domains"), "id").text = str(domain_id)
    for name, value in (
        ("allow_unauthenticated_participants", "false"),
        ("enable_join_access_control", "true"),
        ("discovery_protection_kind", PROTECTION),
        ("liveliness_protection_kind", PROTECTION),
        ("rtps_protection_kind", PROTECTION),
    ):
        Xml.SubElement(rule, name).text = value
    topic = Xml.SubElement(Xml.SubElement(rule, "topic_access_rules"), "topic_rule")
    for name, value in (
        ("topic_expression", "*"),
        ("enable_discovery_protection", "true"),
        ("enable_liveliness_protection", "true"),
        ("enable_read_access_control", "true"),
        ("enable_write_access_control", "true"),
        ("metadata_protection_kind", PROTECTION),
        ("data_protection_kind", PROTECTION),
    ):
        Xml.SubElement(topic, name).text = value
    return _text(root)


def _root(kind: str) -> Xml.Element:
    return Xml.Element("dds", {f"{{{_INSTANCE}}}noNamespaceSchemaLocation": _SCHEMA.format(kind)})


def _text(root: Xml.Element) -> bytes:
    Xml.register_namespace("xsi", _INSTANCE)
    Xml.indent(root)
    return Xml.tostring(root, encoding="UTF-8", xml_declaration=True)
