"""Which programs make up the chain."""

from pathlib import Path

import pytest

from alerts.settings import load
from monitoring import chain, programs
from monitoring.cli import main
from monitoring.configuration import Layout
from monitoring.options import ChainOptions
from monitoring.relocation import FIXED, LINK, needs_relocation, relocate
from monitoring.supervision.component import Component


def plan(tmp_path, options: ChainOptions, *, grafana=False) -> dict[str, Component]:
    alertmanager = tmp_path / "usr" / "bin" / "alertmanager"
    alertmanager.parent.mkdir(parents=True)
    alertmanager.write_bytes(b"official")
    found = programs.Programs(
        prometheus=Path("/opt/prometheus"),
        alertmanager=alertmanager,
        grafana=Path("/opt/grafana/bin/grafana") if grafana else None,
        vllm_python=None if options.vllm_url else Path("/opt/vllm/bin/python"),
    )
    layout = Layout(tmp_path, tmp_path / "data")
    components = chain.components(options, found, load(), layout)
    return {one.name: one for one in components}


def test_the_bundled_server_comes_first_and_what_it_tells_is_read_after(tmp_path):
    components = plan(tmp_path, ChainOptions(), grafana=True)
    assert list(components) == [
        "vllm",
        "exporter",
        "receiver",
        "alertmanager",
        "prometheus",
        "grafana",
    ]
    assert "--vllm.url=http://127.0.0.1:8000" in components["exporter"].command
    assert "--cache.window=5m" in components["exporter"].command
    assert "--rules.alert.for-grace-period=1m" in components["prometheus"].command
    assert "--cluster.listen-address=" in components["alertmanager"].command
    # Every program listens on this machine alone, and nowhere but where its port was checked.
    for one in components.values():
        assert one.host == "127.0.0.1"
        settings = " ".join((*one.command, *one.environment.values()))
        assert str(one.port) in settings
        assert "0.0.0.0" not in settings


def test_a_server_that_is_there_already_is_not_started(tmp_path):
    options = ChainOptions(vllm_url="http://gpu.example:9000")
    components = plan(tmp_path, options)
    assert "vllm" not in components
    assert "grafana" not in components
    assert "--vllm.url=http://gpu.example:9000" in components["exporter"].command
    assert chain.server_name(options) == "gpu.example:9000"


def test_a_gpu_is_simulated_only_where_that_is_asked_for(tmp_path):
    asked = plan(tmp_path / "a", ChainOptions(simulated_gpu=True))["exporter"].command
    assert "--gpu.backend=simulated" in asked
    other = plan(tmp_path / "b", ChainOptions())["exporter"].command
    assert "--gpu.backend=auto" in other
    assert not [one for one in other if "simulated" in one]


def test_a_model_is_served_by_the_gpus_command(tmp_path):
    vllm = plan(tmp_path, ChainOptions(model="google/gemma-4-31b-it"))["vllm"]
    assert "--model=google/gemma-4-31b-it" in vllm.command
    assert "--gpu-memory-utilization=0.85" in vllm.command
    assert "--load-format=dummy" not in vllm.command
    assert vllm.start_seconds >= 1800  # it may have to be downloaded


def test_a_model_needs_a_gpu(monkeypatch, capsys):
    monkeypatch.setattr(programs, "has_gpu", lambda: False)
    assert main(["up", "--model", "some/model"]) == 1
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "needs a GPU" in error


def test_debians_unpacked_alertmanager_is_made_to_find_its_templates(tmp_path):
    binary = tmp_path / "usr" / "bin" / "prometheus-alertmanager"
    templates = tmp_path / "usr" / "share" / "prometheus" / "alertmanager"
    binary.parent.mkdir(parents=True)
    templates.mkdir(parents=True)
    (templates / "default.tmpl").touch()
    binary.write_bytes(b"\x7f" + FIXED + b"/ui\x00" + FIXED + b"\x01")
    nowhere = tmp_path / "nowhere"
    assert needs_relocation(binary, installed=nowhere)
    assert not needs_relocation(binary, installed=templates)
    for _ in range(2):
        copy = relocate(binary, tmp_path / "program")
        content = copy.read_bytes()
        assert FIXED not in content
        assert len(content) == len(binary.read_bytes())
        assert (copy.parent / LINK / "default.tmpl").is_file()
    assert f"/proc/self/cwd/{LINK}".encode() in content
    binary.write_bytes(b"official")
    assert not needs_relocation(binary, installed=nowhere)


def test_grafanas_home_is_beside_its_program_or_where_packages_put_it(tmp_path):
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf" / "defaults.ini").touch()
    assert chain.grafana_home(tmp_path / "bin" / "grafana") == tmp_path
    assert chain.grafana_home(tmp_path / "x" / "y" / "grafana") == Path("/usr/share/grafana")


@pytest.mark.parametrize("name", ["vllm", "exporter", "prometheus", "alertmanager", "receiver"])
def test_each_port_has_the_flag_that_messages_name(tmp_path, name, capsys):
    flag = plan(tmp_path, ChainOptions())[name].port_flag
    assert main(["up", flag, "0"]) == 2
    assert flag in capsys.readouterr().err
