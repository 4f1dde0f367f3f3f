import json

import pytest

from exporter.gpu import GPUError
from exporter.gpu.simulated import SimulatedBackend

CARD = {"name": "S", "total_bytes": 1000, "reserved_bytes": 100, "used_bytes": 450}


def read(tmp_path, text):
    path = tmp_path / "gpus.json"
    path.write_text(text)
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


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        '{"gpus": 5}',
        '{"gpus": [5]}',
        '{"gpus": [{}]}',
        json.dumps({"gpus": [CARD | {"used_bytes": 901}]}),
        json.dumps({"gpus": [CARD | {"total_bytes": 0}]}),
        json.dumps({"gpus": [CARD | {"used_bytes": -1}]}),
        json.dumps({"gpus": [CARD | {"used_bytes": "many"}]}),
        json.dumps({"gpus": [CARD | {"power_watts": "many"}]}),
    ],
)
def test_bad_file_is_one_line_with_its_name(tmp_path, text):
    with pytest.raises(GPUError, match=r"gpus\.json") as raised:
        read(tmp_path, text)
    assert "\n" not in str(raised.value)


def test_missing_file_says_which_flag(tmp_path):
    with pytest.raises(GPUError, match=r"--gpu\.simulated-file"):
        SimulatedBackend(tmp_path / "none.json").read()
