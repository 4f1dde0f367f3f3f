"""What every container may not do."""

import re
from pathlib import Path

import pytest

NAMES = (
    "vllm",
    "vllm-gguf",
    "vllm-cpu",
    "tiny-model",
    "exporter",
    "exporter-gpu",
    "targets",
    "receiver",
    "relay",
    "alertmanager",
    "prometheus",
    "grafana",
)
ONCE = {"tiny-model", "targets"}
# What compiles kernels at run time needs a disk to write to.
WRITABLE = {"vllm", "vllm-gguf"}
every_service = pytest.mark.parametrize("name", NAMES)


def test_no_service_is_forgotten(services) -> None:
    assert services.keys() == set(NAMES)


@every_service
def test_has_no_privileges(services, name: str) -> None:
    service = services[name]
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert not {"privileged", "cap_add", "devices", "pid", "ipc", "userns_mode"} & service.keys()
    assert service.get("network_mode") in {None, "none"}


@every_service
def test_runs_as_a_plain_user(services, name: str) -> None:
    user = services[name]["user"].split(":")[0]
    assert re.fullmatch(r"[1-9]\d*", user)


@every_service
def test_has_a_read_only_disk(services, name: str) -> None:
    assert services[name].get("read_only", False) is (name not in WRITABLE)


@every_service
def test_image_has_a_version(services, name: str) -> None:
    image, version = services[name]["image"].rsplit(":", 1)
    assert re.fullmatch(r"v?\d+\.\d+\.\d+", version), image


@every_service
def test_ports_are_for_this_host_only(services, name: str) -> None:
    for port in services[name].get("ports", []):
        assert port["host_ip"] == "127.0.0.1"


@every_service
def test_comes_back_and_fills_no_disk_with_logs(services, name: str) -> None:
    service = services[name]
    assert service["restart"] == ("no" if name in ONCE else "unless-stopped")
    assert service["logging"]["options"] == {"max-file": "3", "max-size": "10m"}


@every_service
def test_is_checked_for_health(services, name: str, root: Path) -> None:
    check = services[name].get("healthcheck")
    if name in ONCE:
        assert check == {"disable": True}
    elif check is None:
        # The image of the kit brings the exporter's.
        assert name in {"exporter", "exporter-gpu"}
        assert "HEALTHCHECK" in (root / "Dockerfile").read_text()
    else:
        assert check["test"][0] == "CMD"
        assert {"interval", "timeout", "retries", "start_period"} <= check.keys()


@every_service
def test_mounts_of_the_checkout_are_read_only(services, name: str) -> None:
    for volume in services[name].get("volumes", []):
        if volume["type"] == "bind" and name != "vllm":
            assert volume["read_only"] is True


def test_what_is_to_outlive_down_is_in_volumes(configuration, services) -> None:
    kept = {
        (name, volume["source"])
        for name, service in services.items()
        for volume in service.get("volumes", [])
        if volume["type"] == "volume" and not volume.get("read_only")
    }
    assert kept == {
        ("vllm", "vllm-home"),
        ("vllm-gguf", "vllm-home"),
        ("tiny-model", "tiny-model"),
        ("targets", "targets"),
        ("receiver", "notifications"),
        ("alertmanager", "alertmanager"),
        ("prometheus", "prometheus"),
        ("grafana", "grafana"),
    }


def test_grafanas_password_comes_from_a_file_only(configuration) -> None:
    resolved = configuration("gpu")
    secret = resolved["secrets"]["grafana-admin-password"]["file"]
    assert secret.endswith("/secrets/grafana-admin-password")
    environment = resolved["services"]["grafana"]["environment"]
    assert environment["GF_SECURITY_ADMIN_PASSWORD__FILE"] == "/run/secrets/grafana-admin-password"
    assert "GF_SECURITY_ADMIN_PASSWORD" not in environment
    assert environment["GF_AUTH_ANONYMOUS_ENABLED"] == "false"
    assert environment["GF_USERS_ALLOW_SIGN_UP"] == "false"


def test_prometheus_cannot_be_told_to_change_or_delete(services) -> None:
    flags = " ".join(services["prometheus"]["command"])
    assert "enable-admin-api" not in flags
    assert "enable-lifecycle" not in flags
