"""The systemd unit: by systemd's own checker, and against the exporter's flags."""

import configparser
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from exporter.cli import command
from exporter.environment import PREFIX
from monitoring import system_programs

FOLDER = Path(__file__).parents[2] / "packaging" / "systemd"
UNIT = FOLDER / "vllm-exporter.service"
DROP_IN = FOLDER / "vllm-exporter.service.d" / "process-memory.conf"


def sections(path):
    parser = configparser.RawConfigParser(strict=False, interpolation=None)
    parser.optionxform = str
    parser.read(path)
    return parser


def test_variables_that_it_mentions_are_flags():
    flags = {f"{PREFIX}_{parameter.name}".upper() for parameter in command.params}
    mentioned = set(re.findall(rf"\b{PREFIX}_[A-Z_]+", UNIT.read_text()))
    assert mentioned
    assert mentioned <= flags


def test_it_runs_without_rights_and_ends_by_itself():
    service = sections(UNIT)["Service"]
    assert service["DynamicUser"] == "yes"
    assert service["NoNewPrivileges"] == "yes"
    assert service["ProtectSystem"] == "strict"
    assert service["CapabilityBoundingSet"] == ""
    assert service["DevicePolicy"] == "closed"
    assert service["RestartPreventExitStatus"] == "2"
    assert service["ExecReload"].startswith("/bin/kill -HUP ")


def test_drop_in_adds_what_reading_others_sockets_needs_and_no_more():
    service = sections(DROP_IN)["Service"]
    assert set(service) == {"AmbientCapabilities", "CapabilityBoundingSet"}
    assert set(service.values()) == {"CAP_SYS_PTRACE CAP_DAC_READ_SEARCH"}


def test_systemd_finds_nothing_wrong(tmp_path):
    program = system_programs.find(system_programs.SYSTEMD_ANALYZE)
    if program is None:
        pytest.fail("no systemd-analyze: run `make test`, or `python -m monitoring setup --dev`")
    copy = tmp_path / UNIT.name
    copy.write_text(UNIT.read_text().replace("/opt/vllm-exporter/bin/vllm-exporter", "/bin/true"))
    shutil.copytree(DROP_IN.parent, tmp_path / DROP_IN.parent.name)
    result = subprocess.run(
        [program, "verify", str(copy)], capture_output=True, text=True, check=False
    )
    about_it = [line for line in result.stderr.splitlines() if "vllm-exporter" in line]
    assert about_it == []
