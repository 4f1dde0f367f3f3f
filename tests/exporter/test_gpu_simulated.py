import json
import os

import pytest

from exporter.collectors.gpu import GPUCollector
from exporter.gpu import GPUError
from exporter.gpu.simulated import SimulatedBackend

CARD = {"name": "S", "total_bytes": 1000, "reserved_bytes": 100, "used_bytes": 450}


def read(tmp_path, text):
    path = tmp_path / "gpus.json"
    path.write_text(text, errors="surrogateescape")
    return SimulatedBackend(path).read()


def test_default_says_that_it_is_made_up():
    snapshot = SimulatedBackend().read()
    assert snapshot.driver_version == "simulated"
    assert "imulated" in snapshot.gpus[0].name
    assert snapshot.gpus[0].memory.usage == pytest.approx(0.85)


def test_file_is_read_anew_at_each_reading(tmp_path):
    path = tmp_path / "gpus.json"
    backend = SimulatedBackend(path)
    for used in (100, 900):
        path.write_text(json.dumps({"gpus": [CARD | {"used_bytes": used}]}))
        assert backend.read().gpus[0].memory.used == used
    assert backend.read().gpus[0].memory.usage == 1.0


def test_further_readings_are_shown_if_they_are_there(tmp_path):
    more = {"uuid": "u", "utilization": 0.5, "power_watts": 300, "temperature_celsius": 60}
    first, second = read(tmp_path, json.dumps({"gpus": [CARD, CARD | more]})).gpus
    assert (first.utilization, first.power_watts, first.temperature_celsius) == (None, None, None)
    assert (second.uuid, second.utilization, second.power_watts) == ("u", 0.5, 300.0)


def card(**changed):
    return json.dumps({"gpus": [CARD | changed]})


BAD = {
    "empty": ("", "Expecting value"),
    "cut": ("{", "Expecting"),
    "no text": ("\udcff", "decode"),
    "deep": ("[" * 100_000, "recursion"),
    "list": ("[]", '{"gpus": […]}'),
    "without gpus": ("{}", '{"gpus": […]}'),
    "no list": ('{"gpus": 5}', '{"gpus": […]}'),
    "no gpu": ('{"gpus": []}', "empty"),
    "no mapping": ('{"gpus": [5]}', "gpus.0 must be a mapping"),
    "nothing of a gpu": ('{"gpus": [{}]}', "gpus.0.total_bytes"),
    "used more than there is": (card(used_bytes=901), "gpus.0: total"),
    "no memory": (card(total_bytes=0), "gpus.0: total"),
    "all reserved": (card(used_bytes=0, total_bytes=100), "gpus.0: total"),
    "negative": (card(used_bytes=-1), "gpus.0.used_bytes"),
    "half a byte": (card(used_bytes=0.5), "gpus.0.used_bytes"),
    "word": (card(used_bytes="many"), "gpus.0.used_bytes"),
    "truth": (card(used_bytes=True), "gpus.0.used_bytes"),
    "infinite bytes": (card(total_bytes=float("inf")), "gpus.0.total_bytes"),
    "no number of bytes": (card(total_bytes=float("nan")), "gpus.0.total_bytes"),
    "more than a float holds": (card(total_bytes=10**400), "gpus.0.total_bytes"),
    "power in words": (card(power_watts="many"), "gpus.0.power_watts"),
    "infinite power": (card(power_watts=float("inf")), "gpus.0.power_watts"),
    "percents": (card(utilization=50), "gpus.0.utilization must be a number from 0 to 1"),
    "no number": (card(utilization=float("nan")), "gpus.0.utilization"),
    "name of two lines": (card(name="a\nb"), "gpus.0.name"),
    "half a character": (card(uuid="\ud800"), "gpus.0.uuid"),
    "no name": (card(name=None), "gpus.0.name"),
    "one uuid twice": (json.dumps({"gpus": [CARD | {"uuid": "u"}] * 2}), "one uuid"),
}


@pytest.mark.parametrize(("text", "says"), BAD.values(), ids=BAD)
def test_bad_file_is_one_line_with_its_name_and_the_place(tmp_path, text, says):
    with pytest.raises(GPUError, match=r"gpus\.json") as raised:
        read(tmp_path, text)
    assert "\n" not in str(raised.value)
    assert says in str(raised.value)
    assert "driver" not in str(raised.value)


def test_whole_numbers_may_be_written_as_floats(tmp_path):
    text = '{"gpus": [{"total_bytes": 2.4e10, "used_bytes": 0, "uuid": "\\u00e9"}]}'
    (gpu,) = read(tmp_path, text).gpus
    assert (gpu.memory.total, gpu.memory.usage, gpu.uuid) == (24_000_000_000, 0.0, "é")


def test_missing_file_says_which_flag(tmp_path):
    with pytest.raises(GPUError, match=r"--gpu\.simulated-file"):
        SimulatedBackend(tmp_path / "none.json").read()


class Scraped:
    """The collector over the file, and what it logged."""

    def __init__(self, path, helpers):
        self.path = path
        self._collector = GPUCollector(SimulatedBackend(path))
        self._samples = helpers.samples

    def __call__(self):
        families, complete = self._collector.collect(5.0)
        return self._samples(families), complete


@pytest.fixture
def scraped(tmp_path, helpers):
    path = tmp_path / "gpus.json"
    path.write_text(json.dumps({"gpus": [CARD, CARD]}))
    return Scraped(path, helpers)


def up(index):
    return f"vllm:gpu_up{{gpu={index},uuid=GPU-simulated-{index}}}"


LOST = {
    "gone": lambda path: None,
    "fifo": os.mkfifo,
    "directory": lambda path: path.mkdir(),
    "device": lambda path: path.symlink_to("/dev/zero"),
    "cut": lambda path: path.write_text("{"),
    "no gpu": lambda path: path.write_text('{"gpus": []}'),
}


@pytest.mark.timeout(20)
@pytest.mark.parametrize("lose", LOST.values(), ids=LOST)
def test_gpus_of_a_lost_file_are_0_without_stale_figures_until_it_is_back(scraped, lose, log_lines):
    good = scraped.path.read_text()
    before, complete = scraped()
    assert complete
    assert before[up(0)] == before[up(1)] == 1
    scraped.path.unlink()
    lose(scraped.path)
    for _ in range(3):
        assert scraped() == ({up(0): 0, up(1): 0}, False)
    (line,) = log_lines
    assert str(scraped.path) in line["reason"]
    assert "driver" not in line["reason"]

    scraped.path.rmdir() if scraped.path.is_dir() else scraped.path.unlink(missing_ok=True)
    scraped.path.write_text(good)
    assert scraped() == (before, True)
    assert [line["event"] for line in log_lines][1:] == ["GPU metrics are back"]


def test_gpu_that_is_no_longer_in_the_file_is_lost_alone(scraped, log_lines):
    scraped()
    scraped.path.write_text(json.dumps({"gpus": [CARD]}))
    for _ in range(3):
        shown, complete = scraped()
        assert (shown[up(0)], shown[up(1)], complete) == (1, 0, False)
        assert not [name for name in shown if "gpu=1," in name and name != up(1)]
    assert ["GPU-simulated-1" in line["reason"] for line in log_lines] == [True]


def test_gpu_with_another_uuid_at_the_same_place_is_another(scraped):
    scraped()
    scraped.path.write_text(json.dumps({"gpus": [CARD | {"uuid": "new"}, CARD]}))
    shown, _ = scraped()
    assert shown["vllm:gpu_up{gpu=0,uuid=new}"] == 1
    assert (shown[up(0)], shown[up(1)]) == (0, 1)
