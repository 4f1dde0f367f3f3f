from __future__ import annotations

import json
import re
import stat
import subprocess
from pathlib import Path

import pytest

from dashboards.preview import bundle

PERMISSIVE = re.compile(
    r"MIT|Apache-2\.0|ISC|0BSD|BSD-[23]-Clause|OFL-1\.1|CC0-1\.0|Unlicense"
    r"|\(MPL-2\.0 OR Apache-2\.0\)"
)


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    """Sources of a page, small and complete."""
    folder = tmp_path / "web"
    (folder / "empty").mkdir(parents=True)
    for name in ("package.json", "package-lock.json", ".npmrc", "empty/package.json", "page.js"):
        (folder / name).write_text("{}")
    return folder


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is the whole PATH, with stand-ins for node and npm that note their calls."""
    folder = tmp_path / "bin"
    folder.mkdir()
    _program(folder / "node", "echo v20.1.0")
    _program(
        folder / "npm",
        'echo "$1 $2" >>../calls\n'
        'case "$1" in run) /bin/mkdir site; echo page >site/index.html;; esac',
    )
    monkeypatch.setenv("PATH", str(folder))
    return folder


def _program(path: Path, script: str) -> None:
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def _calls(folder: Path) -> list[str]:
    return (folder / "calls").read_text().split("\n")[:-1]


def test_the_page_is_built_once(programs: Path, sources: Path, tmp_path: Path) -> None:
    said: list[str] = []
    site = bundle.ensure(tmp_path / "tools", said.append, sources)
    assert (site / "index.html").read_text() == "page\n"
    assert len(said) == 2
    assert bundle.ensure(tmp_path / "tools", said.append, sources) == site
    assert _calls(tmp_path / "tools") == ["ci --no-audit", "run --silent"]
    assert len(said) == 2


def test_whether_it_is_built_is_told_without_building(
    programs: Path, sources: Path, tmp_path: Path
) -> None:
    assert bundle.built(tmp_path / "tools", sources) is None
    site = bundle.ensure(tmp_path / "tools", print, sources)
    assert bundle.built(tmp_path / "tools", sources) == site
    (sources / "page.js").write_text("changed")
    assert bundle.built(tmp_path / "tools", sources) is None


def test_changed_sources_build_it_anew_with_the_same_packages(
    programs: Path, sources: Path, tmp_path: Path
) -> None:
    first = bundle.ensure(tmp_path / "tools", print, sources)
    (sources / "page.js").write_text("changed")
    second = bundle.ensure(tmp_path / "tools", print, sources)
    assert first != second
    assert not first.exists()
    assert (second / "index.html").is_file()
    assert _calls(tmp_path / "tools") == ["ci --no-audit", "run --silent", "run --silent"]


def test_other_packages_are_fetched(programs: Path, sources: Path, tmp_path: Path) -> None:
    bundle.ensure(tmp_path / "tools", print, sources)
    (sources / "package-lock.json").write_text('{"changed": true}')
    bundle.ensure(tmp_path / "tools", print, sources)
    assert _calls(tmp_path / "tools")[2:] == ["ci --no-audit", "run --silent"]


def test_without_node_one_line_says_what_to_do(
    programs: Path, sources: Path, tmp_path: Path
) -> None:
    (programs / "node").unlink()
    with pytest.raises(bundle.BundleError, match=r"node or npm is missing: install Node.js 20"):
        bundle.ensure(tmp_path / "tools", print, sources)


@pytest.mark.parametrize("told", ["v18.20.4", "nonsense"])
def test_too_old_a_node_is_told(programs: Path, sources: Path, tmp_path: Path, told: str) -> None:
    _program(programs / "node", f"echo {told}")
    with pytest.raises(bundle.BundleError, match=f"node is {told}: install Node.js 20"):
        bundle.ensure(tmp_path / "tools", print, sources)


def test_a_built_page_needs_no_node(programs: Path, sources: Path, tmp_path: Path) -> None:
    site = bundle.ensure(tmp_path / "tools", print, sources)
    (programs / "node").unlink()
    assert bundle.ensure(tmp_path / "tools", print, sources) == site


def test_a_failed_step_is_told_in_one_line(programs: Path, sources: Path, tmp_path: Path) -> None:
    _program(programs / "npm", "echo some words; echo 'npm error code ENETUNREACH'; exit 1")
    with pytest.raises(bundle.BundleError) as caught:
        bundle.ensure(tmp_path / "tools", print, sources)
    assert "npm ci failed: npm error code ENETUNREACH" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_lock_names_no_registry() -> None:
    lock = (bundle.SOURCES / "package-lock.json").read_text(encoding="utf-8")
    resolved = [entry.get("resolved", "") for entry in json.loads(lock)["packages"].values()]
    assert len(resolved) > 300
    assert {address for address in resolved if address} == {"empty"}


def test_versions_are_exact() -> None:
    wanted = json.loads((bundle.SOURCES / "package.json").read_text(encoding="utf-8"))[
        "dependencies"
    ]
    exact = re.compile(r"\d+\.\d+\.\d+|file:empty")
    assert [name for name, version in wanted.items() if not exact.fullmatch(version)] == []


def test_the_page_holds_only_permissive_licences(site: Path) -> None:
    packages = json.loads((site / "licences.json").read_text(encoding="utf-8"))
    names = {package["name"] for package in packages}
    assert {"react", "uplot", "@grafana/ui", "@grafana/data", "@grafana/schema"} <= names
    assert [p for p in packages if not PERMISSIVE.fullmatch(p["licence"])] == []


def test_the_page_holds_no_editor_no_map_and_no_grafana_prometheus(site: Path) -> None:
    names = {p["name"] for p in json.loads((site / "licences.json").read_text(encoding="utf-8"))}
    assert not [n for n in names if re.search(r"monaco|codemirror|^ol$|@grafana/prometheus", n)]
    scripts = [script.read_text(encoding="utf-8") for script in (site / "assets").glob("*.js")]
    assert sum(map(len, scripts)) < 4_000_000
    assert not any("monaco.editor" in script or "EPSG:3857" in script for script in scripts)


def test_no_source_of_the_page_is_kept_out_of_the_repository() -> None:
    """A folder whose name is in .gitignore would be missing in a clone, and in a wheel."""
    root = bundle.SOURCES.parents[2]
    files = [str(path) for path in bundle.SOURCES.rglob("*") if path.is_file()]
    told = subprocess.run(
        ["git", "check-ignore", "--no-index", *files],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
    )
    assert told.stdout == ""
