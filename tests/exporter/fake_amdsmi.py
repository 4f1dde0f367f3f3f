"""A stand-in for AMD's Python module, after its documentation: no card was at hand.

Units are the documented ones: memory in bytes, activity in per cent, power in W, temperature in
degrees Celsius, energy as ticks of ``counter_resolution`` µJ; "N/A" stands for unknown.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

NOT_SUPPORTED = 2
NO_PERMISSION = 10
NOT_INITIALISED = 32
DRIVER_NOT_LOADED = 34
UNKNOWN_ERROR = 0xFFFFFFFF

MI300X_TOTAL = 206_141_652_992


class AmdSmiException(Exception):  # noqa: N818 - AMD's name
    pass


class AmdSmiLibraryException(AmdSmiException):
    def __init__(self, code: int) -> None:
        super().__init__(f"An error occured with code: {code}")
        self.err_code = code


@dataclass
class Card:
    uuid: str = "48ff74b5-0000-1000-80cd-000000000000"
    name: str = "AMD Instinct MI300X"
    total: int = MI300X_TOTAL
    used: int = 300_000_000
    activity: Any = 42
    power: dict[str, Any] = field(
        default_factory=lambda: {
            "socket_power": 137,
            "current_socket_power": 137,
            "average_socket_power": "N/A",
        }
    )
    hotspot: int = 45
    energy: dict[str, Any] = field(
        default_factory=lambda: {"energy_accumulator": 2_000_000, "counter_resolution": 15.259}
    )
    processes: list[dict[str, Any]] = field(default_factory=list)
    faults: dict[str, int] = field(default_factory=dict)


class FakeAMDSMI:
    AmdSmiException = AmdSmiException
    AmdSmiMemoryType = SimpleNamespace(VRAM="VRAM")
    AmdSmiTemperatureType = SimpleNamespace(HOTSPOT="HOTSPOT")
    AmdSmiTemperatureMetric = SimpleNamespace(CURRENT="CURRENT")

    def __init__(self, *cards: Card) -> None:
        self.cards = list(cards)
        self.init_faults: list[int] = []
        self.inits = 0
        self.shutdowns = 0
        self.calls: Counter[str] = Counter()

    def amdsmi_init(self) -> None:
        if self.init_faults:
            raise AmdSmiLibraryException(self.init_faults.pop(0))
        self.inits += 1

    def amdsmi_shut_down(self) -> None:
        self.shutdowns += 1

    def amdsmi_get_processor_handles(self) -> list[Card]:
        return list(self.cards)

    def _of(self, card: Card, call: str) -> Card:
        self.calls[call] += 1
        if status := card.faults.get(call, card.faults.get("*")):
            raise AmdSmiLibraryException(status)
        return card

    def amdsmi_get_gpu_device_uuid(self, card: Card) -> str:
        return self._of(card, "uuid").uuid

    def amdsmi_get_gpu_asic_info(self, card: Card) -> dict[str, Any]:
        return {"market_name": self._of(card, "asic").name, "vendor_id": 0x1002}

    def amdsmi_get_gpu_driver_info(self, card: Card) -> dict[str, Any]:
        self._of(card, "driver")
        return {"driver_name": "amdgpu", "driver_version": "6.10.5", "driver_date": "2015/01/01"}

    def amdsmi_get_gpu_memory_total(self, card: Card, kind: str) -> int:
        return self._of(card, "memory").total if kind == "VRAM" else 0

    def amdsmi_get_gpu_memory_usage(self, card: Card, kind: str) -> int:
        return self._of(card, "memory").used if kind == "VRAM" else 0

    def amdsmi_get_gpu_activity(self, card: Card) -> dict[str, Any]:
        activity = self._of(card, "activity").activity
        return {"gfx_activity": activity, "umc_activity": 0, "mm_activity": "N/A"}

    def amdsmi_get_power_info(self, card: Card) -> dict[str, Any]:
        return self._of(card, "power").power

    def amdsmi_get_temp_metric(self, card: Card, sensor: str, metric: str) -> int:
        return self._of(card, "temperature").hotspot if sensor == "HOTSPOT" else 0

    def amdsmi_get_energy_count(self, card: Card) -> dict[str, Any]:
        return self._of(card, "energy").energy

    def amdsmi_get_gpu_process_list(self, card: Card) -> list[dict[str, Any]]:
        return self._of(card, "processes").processes
