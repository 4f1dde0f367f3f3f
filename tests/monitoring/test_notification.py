"""The file of notifications, as a reader that comes back sees it."""

import json
from datetime import UTC, datetime

from monitoring.notification import NotificationFile, parse, record

MESSAGE = {
    "alerts": [
        {"status": "firing", "labels": {"alertname": "A"}, "startsAt": "2026-01-02T03:04:05Z"}
    ]
}
NOW = datetime(2026, 1, 2, 3, 4, 6, tzinfo=UTC)


def test_only_what_is_new_and_finished_is_read(tmp_path):
    path = tmp_path / "file"
    inbox = NotificationFile(path)
    assert inbox.new() == []
    line = record(MESSAGE, NOW)
    path.write_text(line + line[:20])
    (only,) = inbox.new()
    assert only == parse(MESSAGE, NOW)
    assert inbox.new() == []
    path.write_text(line + line)
    assert inbox.new() == [only]


def test_a_reader_may_begin_at_the_end(tmp_path):
    path = tmp_path / "file"
    path.write_text(record(MESSAGE, NOW))
    inbox = NotificationFile(path, from_end=True)
    assert inbox.new() == []
    with path.open("a") as file:
        file.write(record(MESSAGE, NOW))
    assert len(inbox.new()) == 1


def test_a_spoiled_line_costs_only_itself(tmp_path):
    path = tmp_path / "file"
    path.write_text('{"received_at": "2026\n[]\n' + record(MESSAGE, NOW))
    assert len(NotificationFile(path).new()) == 1


def test_times_of_alertmanager_are_read_to_the_microsecond():
    def begin(text: str) -> datetime:
        value = json.loads(json.dumps(MESSAGE))
        value["alerts"][0]["startsAt"] = text
        return parse(value, NOW).alerts[0].starts_at

    expected = datetime(2026, 1, 2, 3, 4, 5, 123456, tzinfo=UTC)
    assert begin("2026-01-02T03:04:05.123456789Z") == expected
    assert begin("2026-01-02T04:04:05.123456789+01:00") == expected
    assert begin("2026-01-02T03:04:05.12Z") == expected.replace(microsecond=120000)
    assert begin("2026-01-02T03:04:05Z") == expected.replace(microsecond=0)
