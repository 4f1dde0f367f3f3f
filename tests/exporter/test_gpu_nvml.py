"""The NVML backend against the stand-in in every state that real GPUs were seen in."""

import os
import sys
import types
from dataclasses import replace

import fake_nvml
import pytest
from fake_nvml import (
    ARGUMENT_VERSION_MISMATCH,
    DRIVER_NOT_LOADED,
    FUNCTION_NOT_FOUND,
    GPU_IS_LOST,
    H200_RESERVED,
    H200_TOTAL,
    HOST_MEMORY,
    LIBRARY_NOT_FOUND,
    MISMATCH,
    NO_PERMISSION,
    NOT_SUPPORTED,
    OPERATING_SYSTEM,
    RESET_REQUIRED,
    UNKNOWN,
)

from exporter.gpu import GPUError, GPUProcess, Identity
from exporter.gpu.nvml import REVIVAL_SECONDS, NVMLBackend, load_library
from exporter.gpu.session import LONGEST_PAUSE_SECONDS


def backend(nvml, clock=None, **options):
    monotonic = clock.monotonic if clock else lambda: 0.0
    return NVMLBackend(
        lambda: nvml, monotonic=monotonic, host_memory=lambda: HOST_MEMORY, **options
    )


def only(nvml, **options):
    snapshot = backend(nvml, **options).read()
    assert snapshot.faults == ()
    [gpu] = snapshot.gpus
    return gpu


# --- memory ---


def test_idle_gpu_uses_nothing_though_v1_says_615_mib():
    memory = only(fake_nvml.idle_h200()).memory
    assert (memory.used, memory.reserved, memory.usage) == (0, H200_RESERVED, 0.0)


def test_used_free_and_reserved_are_the_total():
    memory = only(fake_nvml.loaded_h200()).memory
    assert memory.reserved + memory.used + memory.free == memory.total == H200_TOTAL
    assert memory.usage == pytest.approx(0.9076, abs=5e-5)


@pytest.mark.parametrize("status", [FUNCTION_NOT_FOUND, ARGUMENT_VERSION_MISMATCH])
def test_old_driver_has_no_reserved_part_rather_than_a_wrong_one(status, monkeypatch):
    monkeypatch.setattr(fake_nvml, "FUNCTION_NOT_FOUND", status)
    nvml = fake_nvml.old_driver()
    reader = backend(nvml)
    memory = reader.read().gpus[0].memory
    assert memory.reserved is None
    assert memory.used == 4 * 2**30 + H200_RESERVED
    assert memory.usage == memory.used / H200_TOTAL
    reader.read()
    # Asked for v2 once, then never again.
    assert nvml.calls["nvmlDeviceGetMemoryInfo"] == 3


def test_reserved_part_inside_used_is_taken_out_where_the_sum_shows_it():
    used = 4 * 2**30 + H200_RESERVED
    gpu = only(fake_nvml.FakeNVML(fake_nvml.Device(used=used, free=H200_TOTAL - used)))
    assert gpu.memory.used == 4 * 2**30


@pytest.mark.parametrize("sentinel", [2**64 - 1, 2**63 - 1, 2**63 - 16])
@pytest.mark.parametrize("which", ["total", "used", "free"])
def test_sentinel_is_no_figure(which, sentinel):
    device = replace(fake_nvml.Device(), **{which: sentinel})
    assert only(fake_nvml.FakeNVML(device)).memory is None


def test_all_sentinels_at_once_leave_the_gpu_up_and_no_figure():
    gpu = only(fake_nvml.sentinels())
    assert (gpu.memory, gpu.utilization, gpu.power_watts) == (None, None, None)
    assert gpu.temperature_celsius is None
    # pid 4294967295 is garbage of a misread structure; a size that is unknown stays unknown.
    assert gpu.processes == (GPUProcess(77, None), GPUProcess(78, None))


def test_total_of_zero_is_no_memory():
    assert only(fake_nvml.FakeNVML(fake_nvml.Device(total=0, reserved=0))).memory is None


def test_unified_memory_has_no_figure_but_its_processes_do():
    gpu = only(fake_nvml.gb10())
    assert gpu.memory is None
    assert gpu.processes == (GPUProcess(4242, 20 * 2**30),)
    assert gpu.power_watts == 76.0


def test_unified_memory_that_pretends_to_be_the_gpus_has_no_figure():
    assert only(fake_nvml.gb10_that_shows_the_hosts_memory()).memory is None


# --- other readings ---


def test_utilization_power_and_temperature_are_in_base_units():
    gpu = only(fake_nvml.loaded_h200())
    assert (gpu.utilization, gpu.power_watts, gpu.temperature_celsius) == (0.87, 612.345, 64.0)


def test_costly_readings_only_when_asked_for():
    gpu = only(fake_nvml.idle_h200())
    assert (gpu.energy_joules, gpu.pcie_transmit, gpu.pcie_receive) == (None, None, None)
    gpu = only(fake_nvml.idle_h200(), extras=frozenset({"energy", "pcie"}))
    assert (gpu.energy_joules, gpu.pcie_transmit, gpu.pcie_receive) == (5000.0, 2e6, 3e6)


def test_exact_calls_of_a_scrape_and_none_besides():
    nvml = fake_nvml.idle_h200()
    reader = backend(nvml)
    reader.read()
    nvml.calls.clear()
    reader.read()
    assert nvml.calls == {
        "nvmlDeviceGetCount": 1,
        "nvmlDeviceGetMigMode": 1,
        "nvmlDeviceGetMemoryInfo": 1,
        "nvmlDeviceGetUtilizationRates": 1,
        "nvmlDeviceGetPowerUsage": 1,
        "nvmlDeviceGetTemperature": 1,
        "nvmlDeviceGetComputeRunningProcesses": 1,
    }


def test_what_a_guest_does_not_have_is_asked_for_once_and_told_once(log_lines):
    absent = {
        "nvmlDeviceGetPowerUsage": NOT_SUPPORTED,
        "nvmlDeviceGetTemperature": NO_PERMISSION,
        "nvmlDeviceGetMigMode": NOT_SUPPORTED,
        "nvmlDeviceGetMemoryInfo": NOT_SUPPORTED,
    }
    nvml = fake_nvml.FakeNVML(fake_nvml.Device(faults=absent))
    reader = backend(nvml)
    for _ in range(100):
        assert reader.read().faults == ()
    for call in absent:
        assert nvml.calls[call] == 1
    assert [line["reading"] for line in log_lines] == ["power", "temperature", "memory"]


def test_uuid_of_all_zeros_gives_way_to_the_place_on_the_bus():
    zeros = fake_nvml.Device(uuid="GPU-00000000-0000-0000-0000-000000000000")
    assert only(fake_nvml.FakeNVML(zeros)).uuid == "PCI-00000000:1B:00.0"


# --- MIG ---


def test_mig_memory_is_per_gpu_instance_and_never_counted_twice():
    snapshot = backend(fake_nvml.mig()).read()
    gib = 2**30
    assert [(gpu.index, gpu.uuid, gpu.aliases) for gpu in snapshot.gpus] == [
        ("0", fake_nvml.Device().uuid, ()),
        ("0/3", "MIG-a", ("MIG-b",)),
        ("0/5", "MIG-c", ()),
    ]
    board, first, second = snapshot.gpus
    assert board.memory is None
    assert first.memory.used == 9 * gib
    assert second.memory.used == 26 * 2**20
    assert first.processes == (GPUProcess(101, 4 * gib), GPUProcess(102, 5 * gib))


def test_mig_board_keeps_power_and_is_not_asked_for_what_it_has_not():
    nvml = fake_nvml.mig()
    board = backend(nvml).read().gpus[0]
    assert (board.power_watts, board.utilization) == (76.0, None)
    assert nvml.calls["nvmlDeviceGetUtilizationRates"] == 0
    assert nvml.calls["nvmlDeviceGetMemoryInfo"] == 2  # once for each GPU instance


def test_mig_instances_come_and_go_between_readings():
    nvml = fake_nvml.mig()
    reader = backend(nvml)
    reader.read()
    nvml.devices[0].mig = [None, None, None, fake_nvml.Instance(9, "MIG-d", 2**34, 0)]
    assert [gpu.index for gpu in reader.read().gpus] == ["0", "0/9"]
    nvml.devices[0].mig = None
    nvml.devices[0].faults.clear()
    [board] = reader.read().gpus
    assert (board.index, board.memory.total, board.utilization) == ("0", H200_TOTAL, 0.0)


def test_mig_of_others_is_hidden_and_the_rest_is_there():
    nvml = fake_nvml.mig()
    nvml.faults["nvmlDeviceGetMigDeviceHandleByIndex"] = NO_PERMISSION
    snapshot = backend(nvml).read()
    assert [gpu.index for gpu in snapshot.gpus] == ["0"]
    assert snapshot.faults == ()


# --- one GPU fails ---


@pytest.mark.parametrize("status", [GPU_IS_LOST, RESET_REQUIRED])
def test_lost_gpu_is_told_the_other_goes_on_and_its_handle_is_left_alone(status):
    nvml = fake_nvml.two_h200()
    reader = backend(nvml)
    assert len(reader.read().gpus) == 2
    nvml.devices[1].faults["*"] = status
    snapshot = reader.read()
    assert [gpu.uuid for gpu in snapshot.gpus] == ["GPU-first"]
    assert snapshot.gpus[0].memory is not None
    assert snapshot.lost == (Identity("1", "GPU-second"),)
    before = nvml.calls.copy()
    for _ in range(10):
        assert reader.read().lost == snapshot.lost
    made = nvml.calls - before
    # Ten times those of one GPU: the lost one is not touched again.
    assert set(made.values()) == {10}
    assert "nvmlDeviceGetHandleByIndex" not in made


def test_gpu_lost_before_the_start_is_told_without_a_uuid():
    snapshot = backend(fake_nvml.two_h200(GPU_IS_LOST)).read()
    assert snapshot.lost == (Identity("1", ""),)
    assert "XID 79" in snapshot.faults[0]


def test_lost_gpu_is_looked_for_again_after_a_while_and_found(clock):
    nvml = fake_nvml.two_h200()
    reader = backend(nvml, clock)
    reader.read()
    nvml.devices[1].faults["*"] = GPU_IS_LOST
    reader.read()
    nvml.devices[1].faults.clear()
    clock.now += REVIVAL_SECONDS - 1
    assert reader.read().lost
    clock.now += 2
    snapshot = reader.read()
    assert (len(snapshot.gpus), snapshot.lost, nvml.inits) == (2, (), 2)
    reader.close()
    assert nvml.inits == nvml.shutdowns


def test_lost_gpu_that_is_no_longer_counted_is_still_told(clock):
    nvml = fake_nvml.FakeNVML(*(fake_nvml.Device(uuid=f"GPU-{n}") for n in range(3)))
    reader = backend(nvml, clock)
    reader.read()
    nvml.devices[1].faults["*"] = GPU_IS_LOST
    nvml.counted = 2  # position 2 is still the third GPU's
    snapshot = reader.read()
    assert [gpu.uuid for gpu in snapshot.gpus] == ["GPU-0", "GPU-2"]
    assert snapshot.lost == (Identity("1", "GPU-1"),)
    # After NVML was initialised anew, the third GPU has moved up.
    clock.now += REVIVAL_SECONDS + 1
    del nvml.devices[1]
    snapshot = reader.read()
    assert [(gpu.index, gpu.uuid) for gpu in snapshot.gpus] == [("0", "GPU-0"), ("1", "GPU-2")]
    assert snapshot.lost == (Identity("1", "GPU-1"),)
    assert "no longer there" in snapshot.faults[0]


def test_gpu_of_others_is_left_out_without_an_alarm(log_lines):
    nvml = fake_nvml.two_h200(NO_PERMISSION)
    reader = backend(nvml)
    for _ in range(100):
        snapshot = reader.read()
        assert [gpu.uuid for gpu in snapshot.gpus] == ["GPU-first"]
        assert (snapshot.lost, snapshot.faults) == ((), ())
    assert len(log_lines) == 1


def test_passing_fault_of_one_gpu_costs_only_its_figures_and_only_then():
    nvml = fake_nvml.two_h200(UNKNOWN)
    reader = backend(nvml)
    assert reader.read().lost == (Identity("1", ""),)
    nvml.devices[1].faults.clear()
    assert len(reader.read().gpus) == 2


# --- NVML fails ---


@pytest.mark.parametrize(
    ("status", "says"),
    [
        (LIBRARY_NOT_FOUND, "--gpus all"),
        (DRIVER_NOT_LOADED, "load the NVIDIA driver"),
        (MISMATCH, "reboot"),
        (NO_PERMISSION, "/dev/nvidia"),
        (UNKNOWN, "restart it"),
    ],
)
def test_late_driver_is_found_without_a_restart(status, says, clock):
    nvml = fake_nvml.idle_h200()
    nvml.init_faults = [status, status]
    reader = backend(nvml, clock)
    for _ in range(2):
        with pytest.raises(GPUError, match=says):
            reader.read()
        clock.now += LONGEST_PAUSE_SECONDS
    assert len(reader.read().gpus) == 1


def test_failing_initialisation_is_tried_with_growing_pauses(clock):
    nvml = fake_nvml.idle_h200()
    nvml.init_faults = [LIBRARY_NOT_FOUND] * 1000
    reader = backend(nvml, clock)
    for _ in range(600):
        with pytest.raises(GPUError):
            reader.read()
        clock.now += 1
    # At 0, 5, 15, 35, 75 s and then each minute.
    assert 1000 - len(nvml.init_faults) == 13


@pytest.mark.parametrize("call", ["nvmlDeviceGetCount", "nvmlDeviceGetMemoryInfo"])
@pytest.mark.parametrize("status", [MISMATCH, DRIVER_NOT_LOADED])
def test_driver_lost_in_mid_run_is_told_for_each_gpu_and_taken_up_again(call, status, clock):
    nvml = fake_nvml.two_h200()
    reader = backend(nvml, clock)
    reader.read()
    nvml.faults[call] = status
    with pytest.raises(GPUError) as raised:
        reader.read()
    assert [identity.uuid for identity in raised.value.lost] == ["GPU-first", "GPU-second"]
    with pytest.raises(GPUError) as raised:  # in the pause
        reader.read()
    assert len(raised.value.lost) == 2
    nvml.faults.clear()
    clock.now += LONGEST_PAUSE_SECONDS
    assert len(reader.read().gpus) == 2
    reader.close()
    assert nvml.inits == nvml.shutdowns == 2


@pytest.mark.parametrize("status", [UNKNOWN, OPERATING_SYSTEM])
def test_container_that_lost_its_devices_says_restart_it(status, clock):
    nvml = fake_nvml.two_h200()
    reader = backend(nvml, clock)
    reader.read()
    for device in nvml.devices:
        device.faults["*"] = status
    with pytest.raises(GPUError, match="restart it") as raised:
        reader.read()
    assert len(raised.value.lost) == 2
    for device in nvml.devices:
        device.faults.clear()
    clock.now += LONGEST_PAUSE_SECONDS
    assert len(reader.read().gpus) == 2


def test_nothing_is_initialised_before_the_first_reading_and_all_is_shut_down():
    nvml = fake_nvml.idle_h200()
    reader = backend(nvml)
    assert nvml.inits == 0
    reader.read()
    reader.close()
    reader.close()
    assert (nvml.inits, nvml.shutdowns) == (1, 1)
    assert len(reader.read().gpus) == 1


def test_child_process_initialises_its_own():
    nvml = fake_nvml.idle_h200()
    reader = backend(nvml)
    reader.read()
    child = os.fork()
    if child == 0:  # the parent looks at its exit status
        status = 1
        try:
            fine = len(reader.read().gpus) == 1 and nvml.inits == 2 and nvml.shutdowns == 0
            status = 0 if fine else 2
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert len(reader.read().gpus) == 1
    assert nvml.inits == 1


# --- the module ---


def test_other_module_of_the_name_pynvml_is_named(monkeypatch):
    other = types.ModuleType("pynvml")
    other.__file__ = "/usr/lib/python3/pynvml/__init__.py"
    other.nvmlInit = lambda: None
    monkeypatch.setitem(sys.modules, "pynvml", other)
    with pytest.raises(GPUError, match=r"/usr/lib/python3/pynvml.*pip uninstall pynvml"):
        NVMLBackend().read()


def test_missing_module_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "pynvml", None)
    with pytest.raises(GPUError, match="pip install nvidia-ml-py"):
        load_library()


def test_nvidias_own_module_has_all_that_the_stand_in_has():
    real = load_library()
    for name in vars(fake_nvml.FakeNVML):
        if name.startswith(("nvml", "NVML")):
            assert hasattr(real, name), name
    for name, value in vars(fake_nvml).items():
        if name.isupper() and hasattr(real, f"NVML_ERROR_{name}"):
            assert getattr(real, f"NVML_ERROR_{name}") == value
    assert issubclass(real.NVMLError, Exception)
    assert real.nvmlMemory_v2 == fake_nvml.FakeNVML.nvmlMemory_v2
