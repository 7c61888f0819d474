"""Perception networks of others: equal numbers on equal pictures, whatever the axes, the channels and the range."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper
from PIL import Image

from robomarl.core.bundle.bundle import PERCEPTION_FILE, Bundle, load_bundle
from robomarl.core.bundle.onnx_check import check_onnx
from robomarl.core.bundle.perception import open_perception, read_images
from robomarl.core.config import UserError
from robomarl.fleet.checks.verify import verify_here
from robomarl.front.cli import main
from robomarl.front.cli.import_policy import Args, run
from robomarl.lab.foreign.vision.eyes import check_equal
from robomarl.lab.foreign.vision.form import PictureOptions, form_of
from robomarl.lab.foreign.vision.joined import joined
from robomarl.lab.foreign.vision.preparation import linear_weights, prepared
from robomarl.lab.foreign.vision.read import read_vision
from tests.core.bundle.sealing import copy, reseal
from tests.core.bundle.visionmodels import OUTPUTS, channels_first, convolutional, named, shipped_as_others, written

STRIPS = np.random.default_rng(0).integers(0, 256, (3, 32, 96, 3), np.uint8)
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


def grey(strip: np.ndarray) -> np.ndarray:
    return np.asarray(Image.fromarray(strip).convert("L"))


def enlarged(strip: np.ndarray) -> np.ndarray:
    """[48, 64, 3]: PyTorch's `interpolate`, without a filter against aliasing."""
    torch: Any = pytest.importorskip("torch")
    planes = torch.from_numpy(strip.transpose(2, 0, 1).astype(np.float32))[None]
    found = torch.nn.functional.interpolate(planes, (48, 64), mode="bilinear", align_corners=False)
    return found[0].numpy().transpose(1, 2, 0)


def normal(strip: np.ndarray) -> np.ndarray:
    return ((strip / np.float32(255) - np.array(MEAN)) / np.array(STD)).astype(np.float32)


Case = tuple[onnx.ModelProto, PictureOptions, Callable[[np.ndarray], np.ndarray]]
"""A network, the options that say its form, and its picture as its own users make it of a strip."""
CASES: dict[str, Callable[[], Case]] = {
    "torch": lambda: (
        convolutional("nchw", (1, 3, 32, 96)),
        PictureOptions(scale=1),
        lambda strip: (strip / 255).astype(np.float32).transpose(2, 0, 1)[None],
    ),
    "torchvision": lambda: (
        convolutional("nchw", ("batch", 3, 32, 96)),
        PictureOptions(scale=1, mean=MEAN, std=STD),
        lambda strip: normal(strip).transpose(2, 0, 1)[None],
    ),
    "opencv": lambda: (
        convolutional("nchw", (1, 3, "rows", "columns"), opset=11),
        PictureOptions(scale=255, channels="bgr", mean=(103.9, 116.8, 123.7), columns=96),
        lambda strip: (strip[..., ::-1] - np.array((103.9, 116.8, 123.7))).astype(np.float32).transpose(2, 0, 1)[None],
    ),
    "tf2onnx": lambda: (
        convolutional("nhwc", ("unk__1", 32, 96, 3), "uint8"),
        PictureOptions(),
        lambda strip: strip[None],
    ),
    "keras": lambda: (
        convolutional("nhwc", (1, 32, 96, 3)),
        PictureOptions(scale=1, mean=(0.5,), std=(0.5,)),
        lambda strip: (strip / 127.5 - 1).astype(np.float32)[None],
    ),
    "int32, bgr": lambda: (
        convolutional("nhwc", (1, 32, 96, 3), "int32"),
        PictureOptions(channels="bgr"),
        lambda strip: strip[None, ..., ::-1].astype(np.int32),
    ),
    "grey": lambda: (
        convolutional("nchw", (1, 1, 32, 96)),
        PictureOptions(scale=1),
        lambda strip: (grey(strip) / 255).astype(np.float32)[None, None],
    ),
    "grey bytes": lambda: (
        convolutional("nhwc", (1, 32, 96, 1), "uint8"),
        PictureOptions(),
        lambda strip: grey(strip)[None, ..., None],
    ),
    "no batch": lambda: (
        convolutional("nhwc", (32, 96, 3)),
        PictureOptions(scale=255),
        lambda strip: strip.astype(np.float32),
    ),
    "resized": lambda: (
        convolutional("nchw", (1, 3, 48, 64)),
        PictureOptions(scale=255, columns=96),
        lambda strip: enlarged(strip).transpose(2, 0, 1)[None],
    ),
}


def seen(graph: bytes, strip: np.ndarray) -> np.ndarray:
    return np.asarray(onnxruntime.InferenceSession(graph).run(None, {"strip": strip[None]})[0])[0]


@pytest.mark.parametrize("name", CASES)
def test_the_sealed_graph_says_what_the_file_says_of_its_own_pictures(name: str, tmp_path: Path):
    model, options, own_picture = CASES[name]()
    source = read_vision(written(model, tmp_path), options)
    graph = joined(source, OUTPUTS, {})
    check_onnx(graph, name, "vision")
    original = onnxruntime.InferenceSession(model.SerializeToString())
    for strip in STRIPS:
        picture = np.ascontiguousarray(own_picture(strip))
        theirs = np.asarray(original.run(None, {"image": picture})[0]).ravel()
        assert np.abs(theirs).max() > 0.1
        np.testing.assert_allclose(seen(graph, strip), theirs, atol=1e-5, rtol=0)
        assert np.abs(seen(graph, strip[..., ::-1]) - theirs).max() > 1e-2
    assert check_equal(graph, source, STRIPS, name) <= 1e-5


def test_several_outputs_come_in_the_order_of_their_names(tmp_path: Path):
    model = convolutional("nchw", (1, 3, 32, 96))
    model.graph.node.append(helper.make_node("Neg", ["c"], ["second"]))
    model.graph.output.append(helper.make_tensor_value_info("second", TensorProto.FLOAT, None))
    options = PictureOptions(scale=255, outputs=("second", "sight"))
    found = seen(joined(read_vision(written(model, tmp_path), options), 4 * 16 * 48 + OUTPUTS, {}), STRIPS[0])
    picture = STRIPS[0].astype(np.float32).transpose(2, 0, 1)[None]
    sight, second = map(
        np.asarray, onnxruntime.InferenceSession(model.SerializeToString()).run(None, {"image": picture})
    )
    np.testing.assert_allclose(found, np.concatenate([second.ravel(), sight.ravel()]), atol=1e-5, rtol=1e-5)


def test_an_axis_is_resized_between_the_middles_of_its_cells():
    np.testing.assert_allclose(linear_weights(2, 4), [[1, 0], [0.75, 0.25], [0.25, 0.75], [0, 1]])
    np.testing.assert_allclose(linear_weights(4, 2), [[0.5, 0.5, 0, 0], [0, 0, 0.5, 0.5]])
    np.testing.assert_allclose(linear_weights(5, 5), np.eye(5))


@pytest.mark.parametrize("layout", ["nchw", "nhwc"])
@pytest.mark.parametrize("kind", ["trace", "script"])
def test_torchscript_says_what_the_module_says(layout: str, kind: str, tmp_path: Path):
    torch: Any = pytest.importorskip("torch")
    planes = [] if layout == "nchw" else [channels_first(torch)]
    nn = torch.nn
    convolutions = (nn.Conv2d(3, 4, 3, 2, 1), nn.BatchNorm2d(4), nn.Hardswish(), nn.AdaptiveAvgPool2d((4, 8)))
    module = nn.Sequential(*planes, *convolutions, nn.Flatten(), nn.Linear(128, OUTPUTS)).eval()
    blank = torch.zeros((1, 3, 32, 96) if layout == "nchw" else (1, 32, 96, 3))
    saved = torch.jit.trace(module, blank) if kind == "trace" else torch.jit.script(module)
    saved.save(str(tmp_path / "eyes.pt"))
    options = PictureOptions(layout=layout, scale=1, columns=96)  # type: ignore[arg-type]
    graph = joined(read_vision(tmp_path / "eyes.pt", options), OUTPUTS, {})
    picture = torch.from_numpy((STRIPS[0] / 255).astype(np.float32))[None]
    with torch.no_grad():
        theirs = module(picture.permute(0, 3, 1, 2) if layout == "nchw" else picture)[0].numpy()
    np.testing.assert_allclose(seen(graph, STRIPS[0]), theirs, atol=1e-5, rtol=0)


@pytest.mark.parametrize("is_branched", [False, True])
def test_torchscript_that_makes_a_dict_is_refused_in_one_sentence(
    is_branched: bool, tmp_path: Path, capfd: pytest.CaptureFixture[str]
):
    torch: Any = pytest.importorskip("torch")
    torch.jit.script(named(torch, is_branched).eval()).save(str(tmp_path / "eyes.pt"))
    words = ["--perception-of", "soccer_2v2", "--image-layout", "nchw", "--image-scale", "1", "--strip-columns", "96"]
    assert main(["import", str(tmp_path / "eyes.pt"), str(tmp_path / "new"), *words]) == 1
    out, said = capfd.readouterr()
    assert "makes a dict" in said and "return a tensor" in said
    assert said.count("\n") == 1 and "graph(" not in out + said


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> Bundle:
    """The shipped network, as others would have it, imported."""
    folder = tmp_path_factory.mktemp("imported")
    words = ["--perception-of", "soccer_2v2_eyes", "--image-scale", "1", "--image-channels", "bgr"]
    assert main(["import", str(written(shipped_as_others(), folder)), str(folder / "seeing"), *words]) == 0
    return load_bundle(folder / "seeing")


def test_the_shipped_network_in_the_form_of_others_comes_back_as_itself(imported: Bundle):
    verdict = verify_here(imported.folder, timed=False)
    assert verdict.ok, verdict.problems
    shipped = load_bundle("soccer_2v2_eyes")
    assert shipped.contract.image is not None and imported.contract.image == shipped.contract.image
    _, strips, sights = read_images(shipped.contract.image, shipped.files)
    perception = open_perception(imported)
    assert perception is not None
    np.testing.assert_allclose(np.stack([perception(strip) for strip in strips]), sights, atol=1e-5, rtol=0)
    assert imported.contract.safety == shipped.contract.safety
    assert imported.contract.training.ancestry[-1].id == shipped.id
    told = {p.key: p.value for p in onnx.load_from_string(imported.files[PERCEPTION_FILE]).metadata_props}
    assert told["source_pictures"] == "nchw, 32 x 192 bgr float32, 0 to 1"


def swap_channels(model: onnx.ModelProto) -> None:
    """Take the reversal of the channels out."""
    order = next(t for t in model.graph.initializer if [*numpy_helper.to_array(t).ravel()] == [2, 1, 0])
    order.CopyFrom(numpy_helper.from_array(np.array([0, 1, 2]), order.name))


def mistake_axes(model: onnx.ModelProto) -> None:
    """Read rows of pixels as planes, as a network does whose user mistook the layout."""
    node = next(node for node in model.graph.node if node.op_type == "Transpose" and node.attribute[0].ints[1] == 3)
    shape = numpy_helper.from_array(np.array([1, 3, 32, 192]), "mistaken")
    model.graph.initializer.append(shape)
    node.CopyFrom(helper.make_node("Reshape", [node.input[0], shape.name], [*node.output]))


def darken(model: onnx.ModelProto) -> None:
    """Divide by 255 once more."""
    white = next(t for t in model.graph.initializer if [*numpy_helper.to_array(t).ravel()] == [255.0])
    white.CopyFrom(numpy_helper.from_array(np.array([65025.0], np.float32), white.name))


@pytest.mark.parametrize("change", [swap_channels, mistake_axes, darken])
def test_golden_pictures_find_a_sealed_network_that_reads_them_in_another_form(
    imported: Bundle, tmp_path: Path, change: Callable[[onnx.ModelProto], None]
):
    folder = copy(imported.folder, tmp_path)
    model = onnx.load(folder / PERCEPTION_FILE)
    change(model)
    onnx.save(model, folder / PERCEPTION_FILE)
    reseal(folder)
    with pytest.raises(UserError, match="sight output .* does not see as it was trained"):
        open_perception(load_bundle(folder))


REFUSED = {
    (1, 3, 32, 3): (PictureOptions(scale=1, columns=3), "3 x 32 x 3, which may be either layout; add --image-layout"),
    (1, 1, 1, 1): (PictureOptions(scale=1), "--image-layout"),
    (1, 3, 3, 3): (PictureOptions(scale=1), "--image-layout"),
    (1, None, None, None): (PictureOptions(scale=1), r"\? x \? x \?, which may be either layout"),
    (1, 32, 96, 12): (PictureOptions(scale=1), "no axis has 3 colours or 1 grey"),
    (8, 3, 32, 96): (PictureOptions(scale=1), "reads 8 pictures at once"),
    (1, 3, 480, 640): (PictureOptions(scale=1), "pictures of 480 x 640 .*--strip-columns"),
    (1, 3, None, None): (PictureOptions(scale=1), r"pictures of \? x \? .*--strip-columns"),
    (1, 3, 32, 96): (PictureOptions(), "whether white is 1 or 255; add --image-scale 1"),
    (1, 32, 96, 3): (PictureOptions(layout="nchw", scale=1), "where --image-layout nchw has the channels"),
    (3, 32, 96): (PictureOptions(scale=1, mean=(0.5, 0.5)), "give one for each channel"),
    (1, 48, 64, 3): (PictureOptions(columns=96), "rounded by each library in its own way"),
    (1, 32, 96): (PictureOptions(scale=1, channels="bgr"), "grey pictures, which have no --image-channels bgr"),
    (3, 32, 4096): (PictureOptions(scale=1), "more than 1024"),
}


@pytest.mark.parametrize("sizes", REFUSED)
def test_a_form_that_is_not_clear_is_refused_with_its_option(sizes: tuple[int | None, ...]):
    options, told = REFUSED[sizes]
    kind = np.dtype(np.uint8 if options.columns == 96 else np.float32)
    with pytest.raises(UserError, match=told) as caught:
        form_of(sizes, kind, options, "eyes.onnx: image")
    assert "\n" not in str(caught.value)


def test_whole_numbers_that_end_below_white_are_refused():
    """White is 255, and as int8 it would be -1."""
    sizes, told = (1, 32, 96, 3), "reads int8, which ends at 127, .* export it with uint8 or with floats"
    with pytest.raises(UserError, match=told) as caught:
        form_of(sizes, np.dtype(np.int8), PictureOptions(), "eyes.onnx: image")
    assert "\n" not in str(caught.value)
    for kind in (np.uint8, np.int16, np.uint16, np.int64):
        form = form_of(sizes, np.dtype(kind), PictureOptions(), "")
        assert prepared(np.full(form.strip.shape, 255, np.uint8), form).min() == 255


def test_an_unclear_layout_is_as_stated():
    options = PictureOptions(scale=1, columns=3, layout="nchw")
    assert form_of((1, 3, 32, 3), np.dtype(np.float32), options, "").columns == 3
    assert form_of((1, 3, 32, 3), np.dtype(np.float32), replace(options, layout="nhwc"), "").rows == 3


def with_state(model: onnx.ModelProto) -> None:
    model.graph.input.append(helper.make_tensor_value_info("state", TensorProto.FLOAT, [1, OUTPUTS]))
    model.graph.node.append(helper.make_node("Add", ["sight", "state"], ["command"]))
    model.graph.output[0].name = "command"


def with_deconvolution(model: onnx.ModelProto) -> None:
    model.graph.node.append(helper.make_node("ConvTranspose", ["c", "kernel"], ["unused"]))


def with_two_outputs(model: onnx.ModelProto) -> None:
    model.graph.output.append(helper.make_tensor_value_info("c", TensorProto.FLOAT, None))


def of_today(model: onnx.ModelProto) -> None:
    model.opset_import[0].version = 23


@pytest.mark.parametrize(
    ("change", "words", "status", "told"),
    [
        (with_state, (), 1, "reads state beside the picture image"),
        (with_deconvolution, (), 1, "'ConvTranspose'"),
        (with_two_outputs, (), 1, "add --outputs"),
        (with_two_outputs, ("--outputs", "b"), 1, "has no output 'b'; --outputs may name sight, c"),
        (with_two_outputs, ("--outputs", "sight", "c", "sight"), 1, "--outputs names 'sight' twice; name each"),
        (of_today, (), 1, "has operators of opset 23, and robots read 7 to 21"),
        (lambda model: None, ("--perception-of", "soccer_2v2_eyes"), 1, "writes 7 numbers, and the eyes of"),
        (lambda model: None, ("--perception-of", "swap_4"), 1, "camera is missing"),
        (lambda model: None, ("--contract", "c.toml"), 2, "exclude each other"),
    ],
)
def test_a_network_that_no_robot_can_see_with_is_refused_in_one_sentence(
    change: Callable[[onnx.ModelProto], None],
    words: tuple[str, ...],
    status: int,
    told: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
):
    model = convolutional("nchw", (1, 3, 32, 96))
    change(model)
    of = () if "--perception-of" in words else ("--perception-of", "soccer_2v2")
    call = ["import", str(written(model, tmp_path)), str(tmp_path / "new"), "--image-scale", "1", *of, *words]
    assert main(call) == status
    said = capsys.readouterr().err
    assert told in said and said.count("\n") == 1 and "did not foresee" not in said
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("words", [(), ("--contract", "c.toml", "--image-scale", "1")])
def test_options_that_do_not_go_together_are_wrong_calls(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]):
    assert main(["import", "a.onnx", "b", *words]) == 2
    assert "--perception-of" in capsys.readouterr().err


def test_a_policy_that_reads_pictures_is_told_what_can_be_imported(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    model = convolutional("nchw", (1, 3, 32, 96))
    with_state(model)
    (tmp_path / "c.toml").write_text('scenario = "swap_4"\n')
    call = ["import", str(written(model, tmp_path)), str(tmp_path / "new"), "--contract", str(tmp_path / "c.toml")]
    assert main(call) == 1
    said = capsys.readouterr().err
    assert "reads pictures (operator Conv)" in said and "--perception-of" in said


def test_stable_baselines_policies_of_pictures_are_refused_with_the_mend(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    sb3: Any = pytest.importorskip("stable_baselines3")
    gymnasium: Any = pytest.importorskip("gymnasium")

    class Pictures(gymnasium.Env):
        observation_space = gymnasium.spaces.Box(0, 255, (36, 36, 3), np.uint8)
        action_space = gymnasium.spaces.Box(-1, 1, (4,))

    sb3.PPO("CnnPolicy", Pictures(), n_steps=8, batch_size=8).save(tmp_path / "cnn.zip")
    (tmp_path / "c.toml").write_text('scenario = "swap_4"\n')
    words = ["--contract", str(tmp_path / "c.toml")]
    assert main(["import", str(tmp_path / "cnn.zip"), str(tmp_path / "new"), *words]) == 1
    said = capsys.readouterr().err
    assert "reads pictures (array features_extractor.cnn.0.weight)" in said and said.count("\n") == 1


def test_the_file_is_compared_and_not_believed(tmp_path: Path):
    """A graph that reads another form than the reference does is found before anything is written."""
    file = written(convolutional("nchw", (1, 3, 32, 96)), tmp_path)
    right, wrong = (read_vision(file, PictureOptions(scale=scale)) for scale in (1, 255))
    with pytest.raises(UserError, match="differs from onnxruntime"):
        check_equal(joined(wrong, OUTPUTS, {}), right, STRIPS, str(file))
    broken = replace(right, reference=lambda picture: np.full(OUTPUTS, np.nan, np.float32))
    with pytest.raises(UserError, match="not finite"):
        check_equal(joined(right, OUTPUTS, {}), broken, STRIPS, str(file))


def test_a_bundle_that_is_told_what_it_senses_gets_eyes_and_the_form_is_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    file = written(convolutional("nhwc", (1, 32, 96, 3), "uint8"), tmp_path)
    figures = run(Args(file, tmp_path / "new", perception_of="soccer_2v2", pose_error_m=0.2))
    assert figures["pictures"] == "nhwc, 32 x 96 rgb uint8, 0 to 255"
    assert f"pictures: {figures['pictures']}\n" in capsys.readouterr().out
    bundle = load_bundle(tmp_path / "new")
    assert figures["parity_max"] <= 1e-5 and open_perception(bundle) is not None
    assert bundle.contract.image is not None and bundle.contract.image.outputs == OUTPUTS
    assert bundle.contract.safety.safety.position_error_m == 0.2
