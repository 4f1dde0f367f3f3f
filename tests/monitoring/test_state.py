"""The chain's state on disk, and what is left of a chain that died."""

import json
import subprocess
import time
from dataclasses import asdict

import pytest
from rich.console import Console

from monitoring import state
from monitoring.cli import main
from monitoring.display import Display
from monitoring.running import clear_leftovers
from monitoring.state import ChainState, ComponentState
from monitoring.supervision.errors import ChainError


def chain_state(pid: int | None = None, started_at: float | None = None) -> ChainState:
    return ChainState(
        pid=1,
        started_at=time.time() if started_at is None else started_at,
        command="up",
        vllm_url="http://127.0.0.1:8000",
        server="127.0.0.1:8000",
        prometheus_url="http://127.0.0.1:9",
        components=(
            ComponentState("one", "running", pid, 80, "http://x", "http://x/ready", "one.log", 0),
        ),
    )


def test_what_is_written_is_read(tmp_path):
    written = chain_state(pid=77)
    state.write(tmp_path, written)
    assert state.read(tmp_path) == written
    state.remove(tmp_path)
    assert state.read(tmp_path) is None


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", "[" * 100_000, '{"components": [{"name": 1}]}', "\xff"]
)
def test_a_foreign_file_is_one_clear_line(tmp_path, text):
    (tmp_path / state.FILE).write_text(text, encoding="latin-1")
    with pytest.raises(ChainError, match="not this kit's") as caught:
        state.read(tmp_path)
    assert "\n" not in caught.value.message


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("pid", value) for value in (0, -1, True, "1", 1.5, 10**30, None, [])),
        *(("started_at", value) for value in ("x", None, float("nan"), -1.0, 1e400)),
        *(("prometheus_url", value) for value in (1, None, {})),
    ],
)
def test_a_value_of_another_kind_is_none_of_the_kits(tmp_path, name, value):
    values = asdict(chain_state()) | {name: value}
    (tmp_path / state.FILE).write_text(json.dumps(values))
    with pytest.raises(ChainError, match="not this kit's"):
        state.read(tmp_path)


@pytest.mark.parametrize(
    ("name", "value"), [("pid", 0), ("pid", "x"), ("phase", None), ("port", -1), ("name", 5)]
)
def test_neither_is_a_program_of_another_kind(tmp_path, name, value):
    values = asdict(chain_state())
    values["components"][0][name] = value
    (tmp_path / state.FILE).write_text(json.dumps(values))
    with pytest.raises(ChainError, match="not this kit's"):
        state.read(tmp_path)


def test_one_chain_at_a_time(tmp_path):
    assert not state.is_running(tmp_path)
    with state.locked(tmp_path):
        assert state.is_running(tmp_path)
        with pytest.raises(ChainError, match="runs already"), state.locked(tmp_path):
            pass
    assert not state.is_running(tmp_path)


def test_a_folder_that_cannot_be_made_is_one_clear_line(tmp_path):
    (tmp_path / "file").touch()
    with (
        pytest.raises(ChainError, match="choose another --run-dir"),
        state.locked(tmp_path / "file" / "run"),
    ):
        pass


def test_leftovers_of_a_dead_chain_are_stopped(tmp_path, capsys):
    started_at = time.time()
    with subprocess.Popen(["sleep", "300"], start_new_session=True) as left:
        state.write(tmp_path, chain_state(left.pid, started_at))
        assert main(["status", "--run-dir", str(tmp_path)]) == 1
        assert "its supervisor died" in capsys.readouterr().err
        assert main(["down", "--run-dir", str(tmp_path)]) == 0
        assert left.wait(timeout=5) == -15
    assert "one: was left over from a chain that died; stopped" in capsys.readouterr().out
    assert state.read(tmp_path) is None


def test_a_process_that_is_older_than_the_chain_is_left_in_peace(tmp_path):
    with subprocess.Popen(["sleep", "300"], start_new_session=True) as other:
        state.write(tmp_path, chain_state(other.pid, time.time() + 3600))
        assert clear_leftovers(tmp_path, Display(Console())) == 0
        assert other.poll() is None
        other.kill()


def test_nothing_runs(tmp_path, capsys):
    assert main(["status", "--run-dir", str(tmp_path)]) == 1
    assert capsys.readouterr().err == (
        f"no chain runs in {tmp_path}: start it with `python -m monitoring up`\n"
    )
    assert main(["down", "--run-dir", str(tmp_path / "missing")]) == 0
    assert "nothing to stop" in capsys.readouterr().out
