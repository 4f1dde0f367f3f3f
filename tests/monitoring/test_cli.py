"""What a user gets to read who types something wrong."""

import socket
from dataclasses import asdict

import pytest

from monitoring.cli import main
from monitoring.options import Ports, ports


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["stauts"], "did you mean status?"),
        (["xyz"], "there are advise, bench, budget, demo, down, drill, receiver, relay"),
        (["up", "--prometeus-port", "1"], "--prometheus-port"),
        (["up", "--prometheus-port", "70000"], "70000"),
        (["up", "--vllm-url", "localhost:8000"], "write http://127.0.0.1:8000"),
        (["up", "--vllm-url", "http://x", "--model", "m"], "give either"),
        (["up", "--settings", "missing.yml"], "missing.yml: cannot be read"),
        (["receiver", "--listen", "19095"], "write :18000"),
        (["status", "more"], "more"),
        (["up", "--run-dir", ""], "write a path"),
        (
            ["up", "--exporter-port", "19090"],
            "--exporter-port and --prometheus-port are both port 19090: give each its own",
        ),
        (["up", "--vllm-port", "5", "--grafana-port", "5"], "--vllm-port and --grafana-port"),
        (["demo", "--relay-port", "19095"], "--receiver-port and --relay-port are both"),
        (["up", "--vllm-url", "http://localhost:19095/"], "--receiver-port and --vllm-url are"),
        (["up", "--exporter-port", "x"], "from 1 to 65535"),
        (["receiver", "--listen", "x:²"], "write :18000"),
        (["relay", "--listen", "x:999999"], "not between 1 and 65535"),
        (["drill", "VLLMServerDown", "--listen", "x:²"], "write :18000"),
        (["drill", "VLLMServerDown", "--listen", ":0"], "needs a host"),
        (["drill", "VLLMServerDown", "--prometheus", "x"], "no URL of a server"),
        (["smoke", "--timeout", "nan"], "no number from 1 to 3600"),
        (["smoke", "--timeout", "1e300"], "no number from 1 to 3600"),
        (["smoke", "--max-tokens", "1e9"], "no whole number from 32 to 1000000"),
        (["smoke", "--model", " "], "is no name"),
        (["advise", "--minutes", "nan"], "no number from 0.5 to 1440"),
        (["advise", "--minutes", "1e9"], "no number from 0.5 to 1440"),
        (["advise", "--seconds", "1"], "from 2 to 3600"),
        (["bench", "on-off", "--port", "5", "--exporter-port", "5"], "are both port 5"),
        (["bench", "server", "--prefix", "9" * 5000], "no whole number from 1 to 1000000"),
        (["budget", "a\nb", "--gpu-memory", "1GB"], "neither a folder"),
    ],
)
def test_wrong_usage_is_one_line_and_status_2(arguments, expected, capsys):
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert error.startswith("monitoring: ")
    assert error.count("\n") == 1
    assert len(error) < 600
    assert expected in error


def test_without_a_command_the_commands_are_listed(capsys):
    assert main([]) == 2
    assert "demo" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["up", "status", "down", "demo", "receiver", "setup"])
def test_each_command_explains_itself(name, capsys):
    assert main([name, "--help"]) == 0
    assert "Usage: python -m monitoring" in capsys.readouterr().out


def test_a_setting_that_does_not_exist_is_named(tmp_path, capsys):
    file = tmp_path / "mine.yml"
    file.write_text("cache: {windw: 5m}")
    assert main(["up", "--settings", str(file)]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "cache.windw" in error


@pytest.mark.parametrize("command", ["receiver", "relay"])
def test_an_address_that_cannot_be_had_is_told_in_the_systems_words(command, tmp_path, capsys):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        given = ["--file", str(tmp_path / "n")] if command == "receiver" else []
        assert main([command, "--listen", address, *given]) == 1
    error = capsys.readouterr().err
    assert f"cannot listen on {address}: Address already in use; choose" in error
    assert error.count("\n") == 1


def test_a_server_elsewhere_leaves_its_port_to_others():
    given = {f"{name}_port": port for name, port in asdict(Ports(exporter=8000)).items()}
    assert ports(given, "http://elsewhere:19090") == Ports(exporter=8000)
