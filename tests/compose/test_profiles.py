"""What runs, with which flags, in which order."""

import re
from pathlib import Path

import pytest
import yaml

from alerts.settings import load
from monitoring.gguf import serving
from monitoring.vllm.server import cpu_server, gpu_server

CHAIN = {"targets", "receiver", "alertmanager", "prometheus", "grafana"}


@pytest.mark.parametrize(
    ("profile", "own"),
    [
        (None, {"vllm", "exporter-gpu"}),
        ("gpu", {"vllm", "exporter-gpu"}),
        ("gguf", {"vllm-gguf", "exporter-gpu"}),
        ("cpu", {"vllm-cpu", "tiny-model", "exporter"}),
        ("external", {"exporter"}),
        ("external-gpu", {"exporter-gpu"}),
    ],
)
def test_each_profile_starts_its_server_and_the_chain(
    configuration, profile: str | None, own: set[str]
) -> None:
    assert configuration(profile)["services"].keys() == CHAIN | own


def test_without_a_choice_of_server_it_says_what_to_do(root: Path, docker_compose) -> None:
    done = docker_compose("--project-directory", root, "--env-file", "/dev/null", "config")
    assert done.returncode != 0
    assert "copy .env.example to .env first" in done.stderr


def test_gemma_is_served_with_the_kits_flags(services) -> None:
    vllm = services["vllm"]
    assert vllm["entrypoint"] == ["vllm", "serve"]
    model, *flags = vllm["command"]
    assert model == "google/gemma-4-31B-it"
    for flag in (
        "--enable-prefix-caching",
        "--block-size=16",
        "--max-model-len=4096",
        "--gpu-memory-utilization=0.85",
        "--max-num-seqs=8",
    ):
        assert flag in flags
    (devices,) = vllm["deploy"]["resources"]["reservations"]["devices"]
    assert (devices["driver"], devices["capabilities"]) == ("nvidia", ["gpu"])


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("VLLM_MODEL", "other/model", "other/model"),
        ("VLLM_PREFIX_CACHING", "--no-enable-prefix-caching", "--no-enable-prefix-caching"),
        ("VLLM_BLOCK_SIZE", "32", "--block-size=32"),
        ("VLLM_MAX_MODEL_LEN", "8192", "--max-model-len=8192"),
        ("VLLM_GPU_MEMORY_UTILIZATION", "0.8", "--gpu-memory-utilization=0.8"),
        ("VLLM_MAX_NUM_SEQS", "64", "--max-num-seqs=64"),
        ("VLLM_TENSOR_PARALLEL_SIZE", "2", "--tensor-parallel-size=2"),
    ],
)
def test_each_flag_can_be_set(
    configuration, root: Path, name: str, value: str, expected: str
) -> None:
    command = configuration("gpu", **{name: value})["services"]["vllm"]["command"]
    assert expected in command
    assert f"\n#{name}=" in (root / ".env.example").read_text()


def test_every_variable_is_in_the_example_with_its_default(root: Path) -> None:
    compose = (root / "docker-compose.yml").read_text()
    defaults = dict(re.findall(r"\$\{(\w+):-([^}]*)\}", compose))
    example = dict(re.findall(r"^#?(\w+)=(.*)$", (root / ".env.example").read_text(), re.MULTILINE))
    assert defaults.keys() | {"COMPOSE_PROFILES"} == example.keys()
    # The example shows the URL that one would set, not the one inside the network.
    different = {name for name, value in defaults.items() if example[name] != value}
    assert different == {"VLLM_URL"}


def test_the_cache_folder_is_mounted_and_can_be_set(configuration) -> None:
    def folder(**environment: str) -> dict:
        volumes = configuration("gpu", **environment)["services"]["vllm"]["volumes"]
        (mount,) = (v for v in volumes if v["target"] == "/home/vllm/.cache/huggingface")
        return mount

    assert folder()["source"] == "/home/operator/.cache/huggingface"
    assert folder(HF_CACHE="/srv/models")["source"] == "/srv/models"
    # Made by Docker it would belong to root.
    assert not folder()["bind"].get("create_host_path")


def test_a_gguf_file_is_served_as_in_the_native_chain(services) -> None:
    file, folder = "/models/gemma-4-31B-it-Q4_K_M.gguf", "/models/gemma-4-31b-text"
    options = serving.options(Path(file), Path(folder), "gemma-4-31b")
    native = gpu_server(Path("python"), options)
    image = services["vllm-gguf"]
    assert image["entrypoint"] == ["vllm", "serve"]
    assert image["command"][0] == file
    own = {"--host=0.0.0.0", "--tensor-parallel-size=1"}
    assert {*native.arguments[3:]} - {f"--model={file}", "--host=127.0.0.1"} == {
        *image["command"][1:]
    } - own


def test_what_a_gguf_file_does_not_change_is_as_for_a_checkpoint(services) -> None:
    other, plain = services["vllm-gguf"], services["vllm"]
    changed = {"profiles", "image", "build", "command", "environment", "volumes", "networks"}
    for key in (plain.keys() | other.keys()) - changed:
        assert other[key] == plain[key], key
    assert other["environment"] == plain["environment"] | {"HF_HUB_OFFLINE": "1"}


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("VLLM_GGUF_FILE", "other.gguf", "/models/other.gguf"),
        ("VLLM_GGUF_TOKENIZER", "other", "--tokenizer=/models/other"),
        ("VLLM_GGUF_SERVED_NAME", "other", "--served-model-name=other"),
        ("VLLM_GGUF_MAX_NUM_SEQS", "8", "--max-num-seqs=8"),
        ("VLLM_GGUF_MAX_NUM_BATCHED_TOKENS", "2048", "--max-num-batched-tokens=2048"),
        ("VLLM_GGUF_KV_CACHE_DTYPE", "auto", "--kv-cache-dtype=auto"),
        ("VLLM_MAX_MODEL_LEN", "8192", "--max-model-len=8192"),
    ],
)
def test_each_flag_of_a_gguf_file_can_be_set(
    configuration, name: str, value: str, expected: str
) -> None:
    found = configuration("gguf", **{name: value})["services"]["vllm-gguf"]["command"]
    assert expected in found


def test_the_folder_of_gguf_files_is_read_only_and_not_made_up(configuration) -> None:
    found = configuration("gguf", VLLM_GGUF_DIR="/srv/models")["services"]["vllm-gguf"]["volumes"]
    (mount,) = (volume for volume in found if volume["target"] == "/models")
    assert (mount["source"], mount["read_only"]) == ("/srv/models", True)
    assert not mount["bind"].get("create_host_path")


def test_the_tiny_server_is_started_as_in_the_native_chain(services) -> None:
    """Same flags and variables, less what the image does differently."""
    native = cpu_server(Path("python"), Path("/model"))
    image = services["vllm-cpu"]
    own = {"--model=/model", "--host=127.0.0.1", "--port=8000"}
    assert {*native.arguments[3:]} - own == {*image["command"][1:]} - {
        "--host=0.0.0.0",
        "--port=8000",
    }
    for name, value in native.environment.items():
        # Of talking to itself and to a terminal; of no matter in a container.
        if name not in {
            "VLLM_HOST_IP",
            "VLLM_LOGGING_COLOR",
            "PYTHONUNBUFFERED",
            "VLLM_DO_NOT_TRACK",
        }:
            assert image["environment"][name] == value


def test_one_url_tells_exporter_and_prometheus_which_server(configuration) -> None:
    url = "http://host.docker.internal:8123"
    found = configuration("external", VLLM_URL=url, VLLM_SERVER_NAME="mine")["services"]
    assert f"--vllm.url={url}" in found["exporter"]["command"]
    assert f"--vllm-url={url}" in found["targets"]["command"]
    assert "--server.name=mine" in found["exporter"]["command"]
    assert "--server-name=mine" in found["targets"]["command"]
    for name in ("exporter", "prometheus"):
        assert "host.docker.internal=host-gateway" in found[name]["extra_hosts"]


def test_the_exporters_window_is_the_settings(services) -> None:
    for name in ("exporter", "exporter-gpu"):
        assert f"--cache.window={load().cache.window}" in services[name]["command"]


def test_no_gpu_is_made_up_unless_asked_for(configuration) -> None:
    def backend(**environment: str) -> str:
        exporter = configuration("cpu", **environment)["services"]["exporter"]
        return exporter["environment"]["VLLM_EXPORTER_GPU_BACKEND"]

    assert backend() == "none"
    assert backend(EXPORTER_GPU_BACKEND="simulated") == "simulated"


def test_start_order(services) -> None:
    def waits(name: str) -> dict[str, str]:
        return {other: how["condition"] for other, how in services[name]["depends_on"].items()}

    assert waits("alertmanager") == {"receiver": "service_healthy"}
    assert waits("prometheus")["alertmanager"] == "service_healthy"
    assert waits("prometheus")["targets"] == "service_completed_successfully"
    assert waits("grafana") == {"prometheus": "service_healthy"}
    assert waits("vllm-cpu") == {"tiny-model": "service_completed_successfully"}


def test_what_waits_for_health_can_become_healthy(services) -> None:
    for service in services.values():
        for other, how in service.get("depends_on", {}).items():
            if how["condition"] == "service_healthy":
                assert services[other]["healthcheck"]["test"][0] == "CMD"


def test_names_in_the_configuration_are_services(root: Path, services) -> None:
    alertmanager = yaml.safe_load((root / "monitoring/alertmanager/alertmanager.yml").read_text())
    webhooks = [w for r in alertmanager["receivers"] for w in r.get("webhook_configs", [])]
    assert {w["url"] for w in webhooks} == {"http://receiver:19095/notifications"}
    assert "--listen=:19095" in services["receiver"]["command"]
    sources = root / "monitoring/grafana/provisioning/datasources/prometheus.yml"
    urls = {s["url"] for s in yaml.safe_load(sources.read_text())["datasources"]}
    assert urls == {"http://prometheus:9090", "http://alertmanager:9093"}
    for name in ("exporter", "exporter-gpu"):
        assert services[name]["networks"]["default"]["aliases"] == ["exporter"]
    for name in ("vllm-cpu", "vllm-gguf"):
        assert services[name]["networks"]["default"]["aliases"] == ["vllm"]


def test_mounted_files_are_there(root: Path, services) -> None:
    sources = {
        Path(volume["source"])
        for service in services.values()
        for volume in service.get("volumes", [])
        if volume["type"] == "bind"
    }
    inside = {source for source in sources if source.is_relative_to(root)}
    # `make secrets` makes this one, together with Grafana's password.
    inside.remove(root / "secrets/notification")
    assert "mkdir -p $(@D)/notification" in (root / "Makefile").read_text()
    assert inside
    assert [source for source in inside if not source.exists()] == []


def test_boards_are_mounted_where_grafana_looks(root: Path, services) -> None:
    provider = root / "monitoring/grafana/provisioning/dashboards/kit.yml"
    path = yaml.safe_load(provider.read_text())["providers"][0]["options"]["path"]
    mounts = {v["target"]: v["source"] for v in services["grafana"]["volumes"]}
    assert mounts[path] == str(root / "dashboards/generated")
    home = services["grafana"]["environment"]["GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH"]
    assert (root / "dashboards/generated" / Path(home).name).is_file()
    assert home.startswith(f"{path}/")
