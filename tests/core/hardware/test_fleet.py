"""A fleet file that is wrong is refused by one sentence that says what to mend."""

import getpass
import shutil
import subprocess
from pathlib import Path

import pytest

from robomarl.core.config import UserError
from robomarl.core.hardware.fleet import load_fleet
from robomarl.core.paths import fleets_dir, vehicles_dir
from robomarl.core.tables import read_yaml
from robomarl.fleet.robot import connect_all
from robomarl.fleet.transport import SSH, ssh_command

GOOD = """
version: 1
name: pair
vehicle: crazyflie_21
scenario: goto_2
robots:
  - {name: left, index: 1, folder: robots/left}
  - {name: right, index: 0, folder: robots/right}
"""


def load(folder: Path, text: str):
    file = folder / "pair.yaml"
    file.write_text(text)
    return load_fleet(str(file))


def test_a_fleet_is_read(tmp_path: Path):
    fleet = load(tmp_path, GOOD)
    assert [(r.name, r.index) for r in fleet.robots] == [("left", 1), ("right", 0)]
    assert fleet.vehicle_config.name == "crazyflie_21" and fleet.radio.rate_hz == 50


def test_a_fleet_says_which_estimator_flies(tmp_path: Path):
    vehicle = load(tmp_path, f"{GOOD}\nestimator: firmware\n").vehicle_config
    assert (vehicle.estimator, vehicle.safety.velocity_error_m_s) == ("firmware", 0.52)
    with pytest.raises(UserError, match=r"^crazyflie_21.yaml: .* 'gps', which pair.yaml names in estimator; measure"):
        load(tmp_path, f"{GOOD}\nestimator: gps\n")


UNLIKE = GOOD.replace("robots/left", "robots/left, vehicle: carrier_600") + "filter: certificate\n"


def test_unlike_vehicles_have_names_of_their_own_and_the_bounds_of_their_files(tmp_path: Path):
    assert list(load(tmp_path, f"{UNLIKE}estimator: assumed\n").vehicles) == ["crazyflie_21", "carrier_600"]
    with pytest.raises(UserError, match="'mocap' is of one vehicle; .* so write assumed"):
        load(tmp_path, f"{UNLIKE}estimator: mocap\n")
    with pytest.raises(UserError, match="vehicle = 'iris_racket' is of no robot"):
        both = UNLIKE.replace("robots/right", "robots/right, vehicle: crazyflie_21")
        load(tmp_path, both.replace("vehicle: crazyflie_21\nscenario", "vehicle: iris_racket\nscenario"))
    copy = shutil.copy(vehicles_dir() / "crazyflie_21.yaml", tmp_path / "copy.yaml")
    with pytest.raises(UserError, match="are both called crazyflie_21; give each vehicle file a name of its own"):
        load(tmp_path, UNLIKE.replace("carrier_600", str(copy)))


def game(foreign: tuple[int, ...]) -> str:
    """Four robots in two teams, some of them foreign, which need no folder."""
    rows = [f"index: {k}, {'foreign: true' if k in foreign else f'folder: robots/{k}'}" for k in (3, 0, 2, 1)]
    head = GOOD[: GOOD.index("robots:")].replace("crazyflie_21", "ssl_omni").replace("goto_2", "soccer_2v2")
    return f"{head}teams: 2\nrobots:\n" + "".join(f"  - {{name: r{row[7]}, {row}}}\n" for row in rows)


@pytest.mark.parametrize(("foreign", "own"), [((), "0123"), ((2, 3), "01"), ((0, 1), "23")])
def test_a_foreign_team_is_in_the_fleet_and_not_ours(tmp_path: Path, foreign: tuple[int, ...], own: str):
    fleet = load(tmp_path, game(foreign))
    assert len(fleet.robots) == 4 and fleet.team_size == 2
    assert [robot.name for robot in fleet.own] == [f"r{k}" for k in own]
    assert [*connect_all(fleet, tmp_path)] == [f"r{k}" for k in own]


@pytest.mark.parametrize("foreign", [(3,), (0, 2), (0, 1, 2)])
def test_foreign_robots_are_one_whole_team(tmp_path: Path, foreign: tuple[int, ...]):
    with pytest.raises(UserError, match="pair.yaml: robots: foreign must be true for all robots of one of two teams"):
        load(tmp_path, game(foreign))


@pytest.mark.parametrize("file", sorted(fleets_dir().glob("*.yaml")), ids=lambda p: p.stem)
def test_what_ships_is_sound(file: Path):
    assert load_fleet(file.stem).name == file.stem


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ("vehicle:", "vehicel:", "unknown key 'vehicel'; did you mean 'vehicle'"),
        ("scenario: goto_2", "", "key 'scenario' is missing"),
        ("name: right", "name: left", "2 robots have name = 'left'; give each its own"),
        ("robots/right", "robots/left", "2 robots have folder = 'robots/left'"),
        ("index: 0", "index: 1", "left and right have index = 1"),
        ("index: 0", "index: 2", "no robot has index = 0; 2 robots count from 0 on"),
        ("index: 0, ", "", r"key 'robots\[1\].index' is missing"),
        ("index: 0", "index: -1", r"robots\[1\].index = -1 is out of range"),
        ("name: right", "name: Right Wing", r"robots\[1\]: name = 'Right Wing' must be lower-case"),
        ("folder: robots/right", "folder: ''", r"robots\[1\]: folder must not be empty"),
        ("folder: robots/right", "ssh: pi@right", r"unknown key 'robots\[1\].ssh'"),
        ("crazyflie_21", "zeppelin", "Unknown vehicle 'zeppelin'"),
        ("version: 1", "version: 0", "version must be one of 1"),
        ("name: pair", "name: [", "pair.yaml: not valid YAML"),
        ("name: pair", "name: pair\nname: other", "line 4, key 'name' is there twice"),
        ("index: 0", "index: 0, host: a, host: b", "key 'host' is there twice"),
        *(
            ("version: 1", f"version: 1\nradio: {{{said}}}", named)
            for said, named in [
                ("within_s: 0.01", "radio.within_s = 0.01 is out of range"),
                ("within_s: 20", "radio.within_s = 20.* is out of range"),
                ("range_m: 8, rate_hz: 5", "within_s = 0.5 must be 0.6 or more: 3 messages have to fit into it"),
                ("range_m: 8", "radio.range_m needs filter: certificate, and field: {on_robot_lost: continue}"),
            ]
        ),
        ("version: 1", "version: 1\nfilter: certificate\nradio: {range_m: 8}", "radio.range_m needs filter"),
        (
            "version: 1",
            "version: 1\nfilter: qp\nradio: {range_m: 8}\nfield: {on_robot_lost: continue}",
            "radio.range_m needs filter: certificate",
        ),
        ("index: 0", f"index: {'9' * 5000}", r"not valid YAML \(ValueError\)"),
        ("name: pair", f"name: {'[' * 1500}", r"not valid YAML \(RecursionError\)"),
        ("name: pair", "name: !!timestamp pair", r"not valid YAML \(AttributeError\)"),
        ("name: pair", "name: !!bool pair", r"not valid YAML \(KeyError\)"),
        (GOOD[GOOD.index("robots:") :], "robots: []", "at least one robot that is not foreign"),
        ("index: 0", "index: 0, foreign: true", "foreign must be true for all robots of one of two teams, or for none"),
        ("index: 0", "index: 0, foreign: 1", r"robots\[1\].foreign"),
    ],
)
def test_a_mistake_is_named(tmp_path: Path, old: str, new: str, named: str):
    assert old in GOOD
    with pytest.raises(UserError, match=named) as error:
        load(tmp_path, GOOD.replace(old, new))
    assert "\n" not in str(error.value)


def test_a_file_that_is_no_text_is_one_sentence(tmp_path: Path):
    (tmp_path / "pair.yaml").write_bytes(GOOD.encode("utf-16"))
    with pytest.raises(UserError, match=r"pair.yaml: byte 0 is no text \(UTF-8\)"):
        load_fleet(str(tmp_path / "pair.yaml"))


def test_what_robots_share_may_be_written_once(tmp_path: Path):
    """Anchors and merged keys stay; of a key that is merged and written, what is written counts."""
    text = GOOD.replace("index: 0", "<<: *both, index: 0").replace("name: pair", "name: pair", 1)
    text = text.replace("index: 1", "<<: &both {python: /opt/py, index: 7}, index: 1", 1)
    fleet = load(tmp_path, text)
    assert {(r.index, r.python) for r in fleet.robots} == {(0, "/opt/py"), (1, "/opt/py")}


def test_what_is_merged_may_have_merged_something_itself(tmp_path: Path):
    text = "robots: {one: &one {host: a}, two: &two {<<: *one, host: b}}\nlast: {<<: *two}\n"
    (tmp_path / "x.yaml").write_text(text)
    content, _ = read_yaml(str(tmp_path / "x.yaml"), "fleet", tmp_path)
    assert content == {"robots": {"one": {"host": "a"}, "two": {"host": "b"}}, "last": {"host": "b"}}


def test_an_unknown_name_lists_what_there_is():
    with pytest.raises(UserError, match="Unknown fleet 'nobody'.*local_4"):
        load_fleet("nobody")


def with_host(folder: Path, host: str):
    return load(folder, GOOD.replace("index: 0", f"index: 0, host: {host}"))


@pytest.mark.skipif(shutil.which("ssh") is None, reason="ssh is not installed")
@pytest.mark.parametrize(
    ("host", "user", "address", "port"),
    [
        ("10.0.0.5", "", "10.0.0.5", "22"),
        ("10.0.0.5:2222", "", "10.0.0.5", "2222"),
        ("pi@10.0.0.5:2222", "pi", "10.0.0.5", "2222"),
        ("robot-0.local:2222", "", "robot-0.local", "2222"),
        ("pi@lab@robot_0", "pi@lab", "robot_0", "22"),
        ("'::1'", "", "::1", "22"),
        ("'[::1]'", "", "::1", "22"),
        ("'[fe80::1%lo]:2222'", "", "fe80::1%lo", "2222"),
        ("'pi@[2001:db8::7]:65535'", "pi", "2001:db8::7", "65535"),
        ("pi@2001:db8::7", "pi", "2001:db8::7", "22"),
    ],
)
def test_ssh_goes_where_a_host_says(tmp_path: Path, host: str, user: str, address: str, port: str):
    """What OpenSSH itself makes of the words that it is called with."""
    robot = next(r for r in with_host(tmp_path, host).robots if r.host)
    command = ["ssh", "-F", "none", "-G", *ssh_command(robot, "", "true")[len(SSH) :]]
    said = dict(line.split(" ", 1) for line in subprocess.check_output(command, text=True).splitlines() if " " in line)
    assert (said["hostname"], said["port"]) == (address, port)
    assert said["user"] == (user or getpass.getuser())


@pytest.mark.parametrize(
    ("host", "says"),
    [
        ("10.0.0.5:99999", "port '99999' must be from 1 to 65535"),
        ("10.0.0.5:0", "port '0' must be from 1"),
        ("'10.0.0.5:'", "neither an IPv6 address nor an address with a port"),
        ("10.0.0.5:ssh", "neither an IPv6 address nor an address with a port"),
        ("10.0.0.300", "10.0.0.300 is no IPv4 address"),
        ("10.0.0", "10.0.0 is no IPv4 address"),
        ("10.0.0.5.6", "is no IPv4 address"),
        ("'[10.0.0.5]:22'", "in brackets is no IPv6 address"),
        ("'[::1'", "is no name or address|neither an IPv6"),
        ("'[::1]x'", "neither an IPv6|is no name"),
        ("'1:2:3'", "neither an IPv6 address"),
        ("'::1::2'", "neither an IPv6 address"),
        ("'@robot'", "'' is no user"),
        ("'pi@'", "is no name or address"),
        ("ssh://pi@robot:22", "is no user|is no name|neither"),
        ("10.0.0.5/24", "is no name or address"),
        ("'-oProxyCommand=x'", "is no name or address"),
        ("'pi@-oProxyCommand=x'", "is no name or address"),
        ("'-l@robot'", "is no user"),
        ("'robot_0 -v'", "is no name or address"),
        ("'$(id)'", "is no name or address"),
        ("[::1]", r'line 8: host = \[::1\] is a list for YAML; put it in quotes: host: "\[::1\]"'),
        ("[::1]:2222", r'put it in quotes: host: "\[::1\]:2222"'),
        ("pi@[::1]:2222", r'put it in quotes: host: "pi@\[::1\]:2222"'),
    ],
)
def test_a_host_that_is_none_is_refused_with_what_to_write(tmp_path: Path, host: str, says: str):
    with pytest.raises(UserError, match=rf"^pair\.yaml: .*({says})") as refused:
        with_host(tmp_path, host)
    assert "\n" not in str(refused.value) and "host = " in str(refused.value)


CRAZYSWARM2 = """
fileversion: 3
robots:
  cf231:
    enabled: true
    uri: radio://0/80/2M/E7E7E7E7E7
    initial_position: [0.0, 0.0, 0.0]
    type: cf21
robot_types:
  cf21: {motion_capture: {tracking: "librigidbodytracker"}, big_quad: false}
all: {firmware_params: {commander: {enHighLevel: 1}}}
"""


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (CRAZYSWARM2, "this is a Crazyswarm2 file"),
        ("robots: {cf1: {enabled: false, uri: 'radio://0/80/2M/E7E7E7E701', type: default}}", "Crazyswarm2 file"),
        ("crazyflies: [{id: 1, channel: 100, initialPosition: [0, 0, 0], type: default}]", "this is a Crazyswarm file"),
        ("/crazyflie_server: {ros__parameters: {world_tf_name: world}}", "this is a file of ROS parameters"),
        ("services: {sim: {image: ros}}", "this is a file of another program"),
        ((fleets_dir().parent / "vehicles/crazyflie_21.yaml").read_text(), "this is a vehicle file"),
    ],
    ids=["crazyswarm2", "crazyswarm2 alone", "crazyswarm", "ros parameters", "compose", "vehicle"],
)
def test_a_file_of_another_program_is_called_by_its_name(tmp_path: Path, text: str, says: str):
    (tmp_path / "crazyflies.yaml").write_text(text)
    with pytest.raises(UserError, match=f"^crazyflies.yaml: .*{says}.*; .*a fleet file has version, name") as refused:
        load_fleet(str(tmp_path / "crazyflies.yaml"))
    assert "\n" not in str(refused.value)
