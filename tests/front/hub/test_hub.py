"""`robomarl push` and `pull`: a bundle goes to a place and comes back whole, or not at all."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from robomarl.core.bundle.bundle import CONTRACT_FILE, Bundle, load_bundle
from robomarl.core.config import UserError
from robomarl.fleet.trust import keys
from robomarl.front.cli import main
from robomarl.front.hub.place import open_place
from robomarl.front.hub.pull import PullOptions, expected_id, partial_of, pull
from robomarl.front.hub.push import push
from robomarl.front.hub.signers import signers_of
from tests.fleet.signing import signed
from tests.front.hub.server import BREAKS, Plain, Ranged, served

pytest.importorskip("aiohttp", reason="the extra `hub` is not installed here (make setup)")
LARGE = "policy_filtered.onnx"


@pytest.fixture(scope="module")
def shelf(bundles: tuple[Bundle, Bundle], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a bundle that was pushed."""
    folder = tmp_path_factory.mktemp("shelf")
    push(bundles[0], str(folder / "swap"))
    return folder


def same(folder: Path, bundle: Bundle) -> bool:
    found = load_bundle(folder)
    return found.files == bundle.files and found.sidecars == bundle.sidecars


def test_hub_folder_has_a_card_with_metadata(shelf: Path, bundles: tuple[Bundle, Bundle]) -> None:
    _, head, body = (shelf / "swap/README.md").read_text().split("---\n", 2)
    about = yaml.safe_load(head)
    assert about["robomarl"]["id"] == bundles[0].id and about["library_name"] == "robomarl"
    assert "swap" in about["tags"] and f"robomarl pull {shelf}/swap" in body
    assert same(shelf / "swap/bundle", bundles[0])


@pytest.mark.parametrize("handler", [Plain, Ranged])
def test_interrupted_pull_over_http_goes_on(
    handler: type[Plain], shelf: Path, bundles: tuple[Bundle, Bundle], tmp_path: Path
) -> None:
    """After a broken connection nothing is at the target; the second call fetches what lacks, with ranges no more."""
    size = sum(map(len, bundles[0].files.values()))
    broken_at = 100_000
    with served(shelf, handler) as url:
        BREAKS[LARGE] = broken_at
        with pytest.raises(UserError, match=f"{LARGE}: "):
            pull(f"{url}/swap", tmp_path / "got")
        assert not (tmp_path / "got").exists() and not BREAKS
        found = pull(f"{url}/swap", tmp_path / "got")
    assert same(tmp_path / "got", bundles[0]) and not partial_of(tmp_path / "got").exists()
    have = (tmp_path, handler, found.fetched_bytes)
    assert found.fetched_bytes < size - (broken_at // 2 if handler is Ranged else 0), have


def test_server_that_does_not_answer_is_not_taken_for_one_without_a_signature(shelf: Path, tmp_path: Path) -> None:
    with served(shelf, Plain) as url:
        assert open_place(f"{url}/swap/bundle/signature.json").content(10) is None
        with pytest.raises(UserError, match=r"no bundle.json is there"):
            pull(f"{url}/nothing", tmp_path / "got")
    with pytest.raises(UserError, match=r"signature.json: can't be read \(.*; check the address, the network"):
        open_place(f"{url}/swap/bundle/signature.json").content(10)


def test_changed_byte_is_refused(shelf: Path, tmp_path: Path) -> None:
    shutil.copytree(shelf / "swap", tmp_path / "hub")
    file = tmp_path / "hub/bundle/policy.onnx"
    content = bytearray(file.read_bytes())
    content[500] ^= 1
    file.chmod(0o644)
    file.write_bytes(content)
    with pytest.raises(UserError, match="policy.onnx: is not the file that was sealed"):
        pull(str(tmp_path / "hub"), tmp_path / "got")
    assert not (tmp_path / "got").exists()


def test_half_upload_is_no_bundle_and_the_next_push_completes_it(
    bundles: tuple[Bundle, Bundle], tmp_path: Path
) -> None:
    url = str(tmp_path / "hub")
    push(bundles[0], url)
    (tmp_path / "hub/bundle" / CONTRACT_FILE).unlink()
    (tmp_path / "hub/bundle" / LARGE).write_bytes(b"half")
    with pytest.raises(UserError, match=r"no bundle.json is there .* upload was interrupted"):
        pull(url, tmp_path / "got")
    assert set(push(bundles[0], url).sent) == {LARGE, CONTRACT_FILE}
    assert same(tmp_path / "hub/bundle", bundles[0])


@pytest.mark.slow
def test_another_bundle_is_replaced_only_when_asked(bundles: tuple[Bundle, Bundle], tmp_path: Path) -> None:
    url, (one, other) = str(tmp_path / "hub"), bundles
    push(one, url)
    with pytest.raises(UserError, match=f"holds bundle {one.id[:12]}, not {other.id[:12]}; add --replace"):
        push(other, url)
    push(other, url, replace=True)
    assert same(tmp_path / "hub/bundle", other)
    with pytest.raises(UserError, match=f"holds bundle {other.id[:12]}, not {one.id[:12]}; check the address"):
        pull(url, tmp_path / "two", PullOptions(one.id))


@pytest.mark.slow
def test_zip_file_goes_there_and_back(bundles: tuple[Bundle, Bundle], tmp_path: Path) -> None:
    url = str(tmp_path / "shelf" / "swap.zip")
    assert push(bundles[0], url).sent == ("swap.zip",)
    assert same(pull(url, tmp_path / "got").bundle.folder, bundles[0])


@pytest.mark.usefixtures("own_keys")
def test_signature_is_checked_with_the_keys_of_this_machine(bundles: tuple[Bundle, Bundle], tmp_path: Path) -> None:
    for name in ("me", "stranger"):
        keys.new_key(name, keys.keys_dir())
    url = str(tmp_path / "hub")
    push(signed(bundles[0], tmp_path, "me"), url)
    assert pull(url, tmp_path / "got", PullOptions(signed_by=("me",))).signers.known == ("me",)
    with pytest.raises(UserError, match=r"is signed by .*, not by stranger"):
        pull(url, tmp_path / "two", PullOptions(signed_by=("stranger",)))
    (keys.keys_dir() / "me.pub").unlink()
    assert len(signers_of(load_bundle(tmp_path / "hub/bundle")).unknown) == 1
    file = tmp_path / "hub/bundle/signature.json"
    file.write_text(
        json.dumps(
            {
                **(data := json.loads(file.read_text())),
                "signatures": [{**data["signatures"][0], "signature": data["signatures"][0]["signature"].swapcase()}],
            }
        )
    )
    with pytest.raises(UserError, match="wrong signature"):
        pull(url, tmp_path / "four")
    assert not (tmp_path / "four").exists()


def test_path_out_of_the_folder_is_refused(bundles: tuple[Bundle, Bundle]) -> None:
    contract = bundles[0].contract
    changed = replace(contract, files={**contract.files, "../../x": contract.files["policy.onnx"]})
    with pytest.raises(UserError, match="would lie outside the bundle's folder"):
        expected_id(changed, b"")


def test_commands_send_and_fetch(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    url, figures = str(tmp_path / "hub"), tmp_path / "figures.json"
    assert main(["push", "swap_4", url]) == 0
    assert main(["pull", url, str(tmp_path / "got"), "--json", str(figures)]) == 0
    assert json.loads(figures.read_text())["dir"] == str(tmp_path / "got")
    assert f"next: robomarl flash {tmp_path / 'got'} FLEET" in capsys.readouterr().out
    assert main(["push", "swap_4", "https://127.0.0.1/x"]) == 1
    assert "takes no files" in capsys.readouterr().err


def test_bundle_goes_to_an_s3_like_store_and_back(
    bundles: tuple[Bundle, Bundle], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The store is moto's server on loopback; s3fs is the client that users have."""
    pytest.importorskip("s3fs")
    moto = pytest.importorskip("moto.server")
    server = moto.ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    try:
        host, port = server.get_host_and_port()
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            monkeypatch.setenv(name, "testing")
        monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        with pytest.raises(UserError, match="s3://team/swap"):
            pull("s3://team/swap", tmp_path / "none")
        push(bundles[0], "s3://team/swap")
        assert push(bundles[0], "s3://team/swap").sent == ()
        push(bundles[1], "s3://team/swap", replace=True)
        assert same(pull("s3://team/swap", tmp_path / "got").bundle.folder, bundles[1])
    finally:
        server.stop()
