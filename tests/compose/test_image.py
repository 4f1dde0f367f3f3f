"""The Dockerfile, as far as it can be judged without Docker."""

import re
import tomllib
from importlib.util import find_spec
from pathlib import Path

import pytest

from monitoring.gguf import install


@pytest.fixture(scope="module")
def dockerfile(root: Path) -> str:
    return (root / "Dockerfile").read_text()


def test_base_images_have_a_version(dockerfile: str) -> None:
    bases = re.findall(r"^FROM (\S+)", dockerfile, re.MULTILINE)
    assert bases
    assert len(set(bases)) == 1
    assert re.fullmatch(r"python:\d+\.\d+\.\d+-slim-\w+", bases[0])


def test_runs_as_a_plain_user(dockerfile: str) -> None:
    assert re.findall(r"^USER (.+)$", dockerfile, re.MULTILINE) == ["10001:10001"]


def test_all_packages_and_what_the_build_reads_are_copied(dockerfile: str, root: Path) -> None:
    project = tomllib.loads((root / "pyproject.toml").read_text())
    packages = project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    read = [project["project"]["readme"], *project["project"]["license-files"], "pyproject.toml"]
    lines = re.findall(r"^COPY (?!--from)(.+) \S+$", dockerfile, re.MULTILINE)
    copied = [source for line in lines for source in line.split()]
    assert sorted(copied) == sorted([*packages, *read])
    allowed = (root / ".dockerignore").read_text().splitlines()
    assert {line[1:] for line in allowed if line.startswith("!")} == set(copied)
    assert "*" in allowed


def test_folders_of_volumes_belong_to_the_user(dockerfile: str, services) -> None:
    mounted = {
        volume["target"]
        for service in services.values()
        if service["image"].startswith("vllm-monitoring-kit:")
        for volume in service.get("volumes", [])
        if volume["type"] == "volume"
    }
    assert mounted
    assert all(target in dockerfile for target in mounted)
    assert "install -d -o 10001 -g 10001" in dockerfile


def test_commands_of_the_image_exist(services) -> None:
    for service in services.values():
        if service["image"].startswith("vllm-monitoring-kit:") and "entrypoint" not in service:
            module = service["command"][0]
            assert find_spec(module) is not None


def test_the_image_for_gguf_is_vllms_with_the_same_plugin(root: Path, services) -> None:
    service = services["vllm-gguf"]
    context = Path(service["build"]["context"])
    assert context == root / "monitoring/gguf/plugin"
    text = (context / service["build"]["dockerfile"]).read_text()
    assert re.findall(r"^FROM (\S+)", text, re.MULTILINE) == [services["vllm"]["image"]]
    flags, *packages, _ = install.requirements()
    assert flags in text
    assert all(package in text for package in packages)
    (copied,) = re.findall(r"^COPY (.+) (\S+)$", text, re.MULTILINE)
    assert all((context / name).is_file() for name in copied[0].split())
    assert f" {copied[1].rstrip('/')}\n" in text


def test_version_is_the_projects(services, root: Path) -> None:
    project = tomllib.loads((root / "pyproject.toml").read_text())
    versions = {
        service["image"].split(":")[1]
        for service in services.values()
        if service["image"].startswith("vllm-monitoring-kit")
    }
    assert versions == {project["project"]["version"]}
