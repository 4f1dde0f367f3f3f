"""The AMD backend against a stand-in after the documentation; not tried on a card."""

import sys

import pytest
from fake_amdsmi import (
    DRIVER_NOT_LOADED,
    MI300X_TOTAL,
    NOT_INITIALISED,
    NOT_SUPPORTED,
    UNKNOWN_ERROR,
    Card,
    FakeAMDSMI,
)

from exporter.gpu import GPUError, GPUProcess, Identity
from exporter.gpu.amd import AMDBackend
from exporter.gpu.session import LONGEST_PAUSE_SECONDS


def backend(smi, clock=None, **options):
    monotonic = clock.monotonic if clock else lambda: 0.0
    return AMDBackend(lambda: smi, monotonic=monotonic, **options)


def test_readings_are_in_base_units():
    row = {"name": "N/A", "pid": 4242, "mem": 5, "memory_usage": {"vram_mem": 2**30}}
    snapshot = backend(FakeAMDSMI(Card(processes=[row]))).read()
    [gpu] = snapshot.gpus
    assert (gpu.index, gpu.uuid, gpu.name) == ("0", Card().uuid, "AMD Instinct MI300X")
    assert snapshot.driver_version == "6.10.5"
    assert gpu.memory.total == MI300X_TOTAL
    assert gpu.memory.used + gpu.memory.free == gpu.memory.total
    assert gpu.memory.reserved is None
    assert (gpu.utilization, gpu.power_watts, gpu.temperature_celsius) == (0.42, 137.0, 45.0)
    assert gpu.processes == (GPUProcess(4242, 2**30),)
    assert gpu.energy_joules is None


@pytest.mark.parametrize(
    "count",
    [
        {"energy_accumulator": 2_000_000, "counter_resolution": 15.259},
        {"power": 2_000_000, "counter_resolution": 15.259, "timestamp": 1},
    ],
)
def test_energy_when_asked_for_by_either_name(count):
    [gpu] = backend(FakeAMDSMI(Card(energy=count)), extras=frozenset({"energy"})).read().gpus
    assert gpu.energy_joules == pytest.approx(30.518)


@pytest.mark.parametrize(
    ("power", "watts"),
    [
        ({"average_socket_power": 90}, 90.0),
        ({"socket_power": "N/A", "current_socket_power": "N/A", "average_socket_power": 91}, 91.0),
        ({"socket_power": "N/A"}, None),
        ({}, None),
    ],
)
def test_power_is_found_under_the_name_that_the_series_of_card_has(power, watts):
    assert backend(FakeAMDSMI(Card(power=power))).read().gpus[0].power_watts == watts


def test_not_available_and_not_supported_have_no_figure_and_are_told_once(log_lines):
    card = Card(activity="N/A", faults={"temperature": NOT_SUPPORTED, "processes": NOT_SUPPORTED})
    smi = FakeAMDSMI(card)
    reader = backend(smi)
    for _ in range(100):
        [gpu] = reader.read().gpus
    assert (gpu.utilization, gpu.temperature_celsius, gpu.processes) == (None, None, ())
    assert smi.calls["temperature"] == smi.calls["processes"] == 1
    assert [line["reading"] for line in log_lines] == ["temperature", "processes"]


def test_one_card_fails_and_the_other_goes_on():
    smi = FakeAMDSMI(Card(uuid="a"), Card(uuid="b"))
    reader = backend(smi)
    reader.read()
    smi.cards[1].faults["*"] = UNKNOWN_ERROR
    snapshot = reader.read()
    assert [gpu.uuid for gpu in snapshot.gpus] == ["a"]
    assert snapshot.lost == (Identity("1", "b"),)


def test_late_driver_and_lost_driver_are_taken_up_and_shut_down(clock):
    smi = FakeAMDSMI(Card())
    smi.init_faults = [DRIVER_NOT_LOADED]
    reader = backend(smi, clock)
    with pytest.raises(GPUError, match="amdgpu"):
        reader.read()
    clock.now += LONGEST_PAUSE_SECONDS
    assert len(reader.read().gpus) == 1
    smi.cards[0].faults["memory"] = NOT_INITIALISED
    with pytest.raises(GPUError) as raised:
        reader.read()
    assert raised.value.lost == (Identity("0", Card().uuid),)
    smi.cards[0].faults.clear()
    clock.now += LONGEST_PAUSE_SECONDS
    assert len(reader.read().gpus) == 1
    reader.close()
    assert smi.inits == smi.shutdowns == 2


def test_missing_module_says_where_it_comes_from(monkeypatch):
    monkeypatch.setitem(sys.modules, "amdsmi", None)
    with pytest.raises(GPUError, match="amd-smi-lib"):
        AMDBackend().read()
