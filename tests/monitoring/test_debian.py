"""A stand-in for apt and dpkg: answers their commands, and keeps what it was asked."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from monitoring import debian

TARGETS = (
    "nodesource\tNode\tmain\tPackages\thttps://deb.example.org/node\n"
    "Debian\tDebian\tmain\tTranslations\thttp://mirror.example.org/debian/\n"
    "Debian\tDebian\tmain\tPackages\thttp://mirror.example.org/debian/\n"
    "Debian\tDebian\tmain\tPackages\thttp://mirror.example.org/debian/\n"
    "Debian\tDebian-Security\tmain\tPackages\thttp://mirror.example.org/debian-security/\n"
)
ADDRESSES = (
    "'http://mirror.example.org/debian/dists/trixie/InRelease' mirror_dists_InRelease 0 \n"
    "'http://mirror.example.org/debian-security/dists/trixie-security/InRelease' x 0 \n"
    "'https://other.example.org/linux/apt/dists/stable/InRelease' y 0 \n"
)
SETTINGS = (
    'Acquire::http::Proxy "http://proxy.example.org:3128";\n'
    'Acquire::IndexTargets::deb::DEP-11::MetaKey "x";\n'
    'APT::Update::Post-Invoke:: "rm -f /var/cache/apt/archives/*.deb";\n'
)


class StandInApt:
    """`subprocess.run` on a machine with these sources."""

    def __init__(
        self,
        *,
        targets: str = TARGETS,
        addresses: str = ADDRESSES,
        fails: dict[str, str] | None = None,
    ) -> None:
        self.targets = targets
        self.addresses = addresses
        self.fails = fails or {}
        self.commands: list[str] = []
        self.sources: list[str] = []
        self.settings = ""

    def __call__(self, command: list[str], **options: Any) -> subprocess.CompletedProcess[str]:
        line = " ".join(command)
        self.commands.append(line)
        private = Path(options["env"].get("APT_CONFIG", "/"))
        for part, error in self.fails.items():
            if part in line:
                return subprocess.CompletedProcess(command, 100, "", error)
        answer = ""
        match command[:2]:
            case ["dpkg", "--print-architecture"]:
                answer = "arm64\n"
            case ["apt-config", "dump"]:
                answer = SETTINGS
            case ["apt-get", "indextargets"]:
                answer = self.targets
            case ["apt-get", "update"] if "--print-uris" in command:
                answer = self.addresses
            case ["apt-get", "update"]:
                self.settings = private.read_text(encoding="utf-8")
                self.sources.append((private.parent / "sources.list").read_text(encoding="utf-8"))
            case ["apt-get", "download"]:
                (Path(options["cwd"]) / f"{command[2]}_1_arm64.deb").touch()
            case ["dpkg-deb", "--extract"]:
                (Path(command[3]) / "usr").mkdir()
            case _:
                raise AssertionError(line)
        return subprocess.CompletedProcess(command, 0, answer, "")


@pytest.fixture(autouse=True)
def _apt_is_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    folder = tmp_path / "path"
    folder.mkdir()
    for name in ("apt-get", "dpkg-deb"):
        (folder / name).touch(0o755)
    monkeypatch.setenv("PATH", str(folder))
    keyring = tmp_path / "keyring.gpg"
    keyring.touch()
    monkeypatch.setattr(debian, "KEYRINGS", (tmp_path / "absent.gpg", keyring))


def ignore(_: str) -> None:
    """Take a step's name."""


def test_packages_come_from_testing_of_the_machines_own_mirror(tmp_path: Path) -> None:
    apt = StandInApt()
    steps: list[str] = []
    debian.unpack(["prometheus", "promtool"], tmp_path / "to", step=steps.append, run=apt)
    options = f"[arch=arm64 signed-by={tmp_path / 'keyring.gpg'}]"
    assert apt.sources == [f"deb {options} http://mirror.example.org/debian testing main\n"]
    assert sorted(path.name for path in (tmp_path / "to").iterdir()) == ["prometheus", "promtool"]
    assert (tmp_path / "to" / "promtool" / "usr").is_dir()
    assert any("prometheus" in step for step in steps)
    assert not any("print-uris" in command for command in apt.commands)


def test_only_the_settings_for_downloading_are_kept(tmp_path: Path) -> None:
    apt = StandInApt()
    debian.unpack(["prometheus"], tmp_path / "to", step=ignore, run=apt)
    assert 'Acquire::http::Proxy "http://proxy.example.org:3128";' in apt.settings
    assert "Post-Invoke" not in apt.settings
    assert "DEP-11" not in apt.settings
    assert 'Dir::Etc::Parts "/dev/null";' in apt.settings


@pytest.mark.parametrize(("user", "expected"), [(0, True), (1000, False)])
def test_root_gives_up_apts_sandbox(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, user: int, expected: bool
) -> None:
    monkeypatch.setattr("os.geteuid", lambda: user)
    apt = StandInApt()
    debian.unpack(["prometheus"], tmp_path / "to", step=ignore, run=apt)
    assert ('APT::Sandbox::User "root";' in apt.settings) is expected


def test_a_machine_without_package_lists_still_knows_its_mirror(tmp_path: Path) -> None:
    apt = StandInApt(targets="")
    debian.unpack(["prometheus"], tmp_path / "to", step=ignore, run=apt)
    assert len(apt.sources) == 1
    assert " http://mirror.example.org/debian testing main" in apt.sources[0]


def test_the_next_archive_is_tried_where_one_is_not_debians(tmp_path: Path) -> None:
    class FirstIsForeign(StandInApt):
        def __call__(self, command: list[str], **options: Any) -> subprocess.CompletedProcess[str]:
            done = super().__call__(command, **options)
            if command[1] == "update" and "foreign" in "".join(self.sources[-1:]):
                return subprocess.CompletedProcess(command, 100, "", "E: not signed\n")
            return done

    addresses = "'https://foreign.example.org/debian/dists/trixie/InRelease' x 0 \n" + ADDRESSES
    apt = FirstIsForeign(targets="", addresses=addresses)
    debian.unpack(["prometheus"], tmp_path / "to", step=ignore, run=apt)
    assert [source.split()[3] for source in apt.sources] == [
        "https://foreign.example.org/debian",
        "http://mirror.example.org/debian",
    ]


@pytest.mark.parametrize(
    ("apt", "reason"),
    [
        (StandInApt(targets="", addresses=""), "no Debian archive among its sources"),
        (
            StandInApt(
                targets="Ubuntu\tUbuntu\tmain\tPackages\thttp://archive.example.org/ubuntu/\n",
                addresses="'http://archive.example.org/ubuntu/dists/noble/InRelease' x 0 \n",
            ),
            "no Debian archive among its sources",
        ),
        (
            StandInApt(
                fails={"--error-on": "W: x\nE: Failed to fetch http://m Temporary failure\n"}
            ),
            "apt-get update says: Failed to fetch http://m Temporary failure",
        ),
        (
            StandInApt(fails={"download": "E: Unable to locate package prometheus\n"}),
            "apt-get download says: Unable to locate package prometheus",
        ),
        (StandInApt(fails={"dpkg-deb": ""}), "dpkg-deb --extract says: exit code 100"),
    ],
    ids=["no-sources", "ubuntu", "no-network", "no-package", "broken-package"],
)
def test_faults_give_a_reason_and_leave_nothing(
    tmp_path: Path, apt: StandInApt, reason: str
) -> None:
    with pytest.raises(debian.ArchiveError) as caught:
        debian.unpack(["prometheus"], tmp_path / "to", step=ignore, run=apt)
    assert reason in str(caught.value)
    assert list((tmp_path / "to").iterdir()) == []


def test_no_apt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(debian.ArchiveError, match="no apt here"):
        debian.unpack(["prometheus"], tmp_path / "to", step=ignore, run=StandInApt())


def test_a_command_that_hangs_or_vanishes_is_a_reason_too(tmp_path: Path) -> None:
    def hangs(command: list[str], **options: Any) -> subprocess.CompletedProcess[str]:
        raise subprocess.TimeoutExpired(command, options["timeout"])

    def vanishes(command: list[str], **options: Any) -> subprocess.CompletedProcess[str]:
        raise FileNotFoundError(2, "No such file or directory")

    for run, reason in ((hangs, "took longer than"), (vanishes, "does not start: No such file")):
        with pytest.raises(debian.ArchiveError, match=reason):
            debian.unpack(["prometheus"], tmp_path / "to", step=ignore, run=run)
