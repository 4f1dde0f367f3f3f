import io
import json
import logging

import pytest
import structlog

from exporter import log


def lines(capsys):
    return capsys.readouterr().err.splitlines()


@pytest.mark.parametrize("log_format", ["logfmt", "json"])
def test_event_is_one_line_even_with_newlines_and_a_traceback(capsys, log_format):
    log.configure("info", log_format)
    try:
        raise ValueError("two\nlines")
    except ValueError:
        structlog.get_logger().exception("failed", detail='a "quoted"\nvalue')
    [line] = lines(capsys)
    assert "ValueError" in line
    if log_format == "json":
        assert json.loads(line)["detail"] == 'a "quoted"\nvalue'
    else:
        assert line.startswith("ts=")
        assert "level=error msg=failed" in line


@pytest.mark.parametrize(
    ("level", "shown"),
    [
        ("debug", ["debug", "info", "warning", "error"]),
        ("info", ["info", "warning", "error"]),
        ("warn", ["warning", "error"]),
        ("error", ["error"]),
    ],
)
def test_level(capsys, level, shown):
    log.configure(level, "json")
    for severity in ("debug", "info", "warning", "error"):
        getattr(structlog.get_logger(), severity)("x")
    assert [json.loads(line)["level"] for line in lines(capsys)] == shown


class FullDisk(io.TextIOBase):
    """Stands in for a log on a disk that is full."""

    def write(self, *_):
        raise OSError(28, "No space left on device")

    flush = write


def closed():
    stream = io.StringIO()
    stream.close()
    return stream


@pytest.mark.parametrize("stderr", [FullDisk(), closed(), None])
def test_log_that_cannot_be_written_is_nobodys_error(monkeypatch, stderr):
    monkeypatch.setattr("sys.stderr", stderr)
    log.configure("info", "logfmt")
    structlog.get_logger().info("x")
    logging.getLogger("urllib3").warning("y")


def test_libraries_speak_in_the_same_form(capsys):
    log.configure("info", "json")
    logging.getLogger("urllib3").warning("odd %s", "thing")
    logging.getLogger("urllib3").info("chatter")
    [line] = map(json.loads, lines(capsys))
    assert (line["level"], line["logger"], line["detail"]) == ("warning", "urllib3", "odd thing")


def test_what_clients_do_is_debug(capsys):
    log.configure("info", "json")
    logging.getLogger("tornado.general").warning("SSL Error on 7")
    assert lines(capsys) == []
    log.configure("debug", "json")
    logging.getLogger("tornado.general").warning("SSL Error on 7")
    logging.getLogger("tornado.general").info("malformed")
    assert [json.loads(line)["level"] for line in lines(capsys)] == ["debug", "debug"]


def test_faults_of_the_server_itself_are_errors(capsys):
    log.configure("info", "json")
    logging.getLogger("tornado.application").error("uncaught")
    [line] = map(json.loads, lines(capsys))
    assert line["level"] == "error"
