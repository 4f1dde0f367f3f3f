"""The configuration that the native chain runs on."""

import json
import re
import stat
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from alerts.settings import Settings, load
from monitoring import binaries, configuration, folders
from monitoring.configuration import Layout
from monitoring.demo.command import SETTINGS, shortened
from monitoring.options import Ports

PORTS = Ports(
    vllm=1001, exporter=1002, prometheus=1003, alertmanager=1004, receiver=1005, grafana=1006
)


@pytest.fixture
def layout(tmp_path) -> Layout:
    return Layout(tmp_path / "run", tmp_path / "run" / "data")


@pytest.fixture
def settings() -> Settings:
    return configuration.native_settings(load(SETTINGS), PORTS)


def read(path: Path):
    return yaml.safe_load(path.read_text())


def test_prometheus_gets_the_settings_intervals_and_the_chains_addresses(layout, settings):
    configuration.write(layout, settings, PORTS, "http://gpu.example:8000/")
    content = read(layout.prometheus / "prometheus.yml")
    assert content["global"] == {
        "scrape_interval": "2s",
        "scrape_timeout": "2s",
        "evaluation_interval": "2s",
    }
    targets = {
        path.stem: [address for entry in read(path) for address in entry["targets"]]
        for path in (layout.prometheus / "targets").iterdir()
    }
    assert targets.pop("drills") == []
    assert targets == {
        "vllm": ["gpu.example:8000"],
        "vllm-exporter": ["127.0.0.1:1002"],
        "prometheus": ["127.0.0.1:1003"],
        "alertmanager": ["127.0.0.1:1004"],
    }
    rules = read(layout.prometheus / "rules" / "prometheus-rules.yml")["groups"]
    waits = {
        rule["alert"]: rule["for"] for group in rules for rule in group["rules"] if "for" in rule
    }
    assert waits["VLLMPrefixCacheHitRateLow"] == "10s"
    runbooks = layout.prometheus / "assets" / "runbooks"
    assert (runbooks / "VLLMPrefixCacheHitRateLow.md").is_file()


def test_the_page_that_prometheus_serves_knows_the_settings_and_real_metrics(layout, settings):
    configuration.write(layout, settings, PORTS, "http://127.0.0.1:1001")
    page = (layout.prometheus / "consoles" / "console.html").read_text()
    assert "@" not in page
    assert "of the last 20s; alert below 50 %" in page
    assert "alert above 90 %" in page
    queried = set(re.findall(r"vllm:\w+", page))
    assert queried == {"vllm:prefix_cache_hit_rate", "vllm:gpu_memory_usage", "vllm:gpu_info"}


def test_the_default_intervals_keep_the_kits_own_timeout():
    assert configuration.prometheus(load())["global"]["scrape_timeout"] == "10s"


def test_alertmanager_gets_the_settings_times_and_the_native_receiver(layout, settings):
    configuration.write(layout, settings, PORTS, "http://127.0.0.1:1001")
    content = read(layout.alertmanager)
    route = content["route"]
    assert (route["group_wait"], route["group_interval"], route["repeat_interval"]) == (
        *("1s", "5s", "1h"),
    )
    (webhook,) = content["receivers"][0]["webhook_configs"]
    assert webhook["url"] == "http://127.0.0.1:1005/notifications"


def test_the_checkers_of_prometheus_and_alertmanager_find_no_fault(layout, settings):
    configuration.write(layout, settings, PORTS, "http://127.0.0.1:1001")
    tools = binaries.provide(("promtool", "amtool"), folders.tools())
    for command in (
        (tools["promtool"], "check", "config", layout.prometheus / "prometheus.yml"),
        (tools["amtool"], "check-config", layout.alertmanager),
    ):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


def test_grafana_gets_the_native_urls_the_boards_and_a_password_of_its_own(layout, settings):
    configuration.write_dashboards(layout, settings)
    password = configuration.write_grafana(layout, settings, PORTS)
    provisioning = layout.grafana / "provisioning"
    sources = read(provisioning / "datasources" / "prometheus.yml")["datasources"]
    assert [source["url"] for source in sources] == [
        "http://127.0.0.1:1003",
        "http://127.0.0.1:1004",
    ]
    assert sources[0]["jsonData"]["timeInterval"] == "2s"
    (provider,) = read(provisioning / "dashboards" / "kit.yml")["providers"]
    boards = list(Path(provider["options"]["path"]).glob("*.json"))
    assert boards
    assert all(json.loads(board.read_text())["uid"] for board in boards)
    assert stat.S_IMODE(password.stat().st_mode) == 0o600
    secret = password.read_text()
    assert len(secret) >= 20
    configuration.write_grafana(layout, settings, PORTS)
    assert password.read_text() == secret


def test_links_follow_the_ports_unless_the_user_set_them():
    settings = load()
    theirs = replace(settings, links=replace(settings.links, runbooks="https://wiki.example/r"))
    links = configuration.native_settings(theirs, PORTS).links
    assert links.prometheus == "http://127.0.0.1:1003"
    assert links.grafana == "http://127.0.0.1:1006"
    assert links.runbooks == "https://wiki.example/r"
    ours = configuration.native_settings(settings, PORTS).links
    assert ours.runbooks == "http://127.0.0.1:1003/user/runbooks"


def test_the_demo_shortens_times_and_nothing_else():
    names = {name: (value, default) for name, value, default in shortened(load(SETTINGS))}
    assert names["cache.window"] == ("20s", "5m")
    assert names["alerts.VLLMGPUMemoryHigh.for"] == ("6s", "1m")  # as a settings file has it
    assert not [name for name in names if "hit_rate" in name or "usage" in name]
    assert shortened(load()) == []
