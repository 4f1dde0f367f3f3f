"""The configuration in force, and what a reading that fails leaves of it."""

import pytest

from exporter.config import Configuration
from exporter.reload import ConfigurationFile
from exporter.yaml_document import DocumentError


@pytest.mark.parametrize(
    "fault", [DocumentError("line 3: x"), OSError(13, "x"), ValueError("x"), MemoryError("x")]
)
def test_no_fault_of_a_reading_ends_the_process(fault, log_lines, helpers, clock):
    loaded = [fault, Configuration((), None)]
    applied = []

    def load():
        result = loaded.pop(0)
        if isinstance(result, Exception):
            raise result
        return result

    file = ConfigurationFile(load, applied.append, clock.wall)
    began = clock.wall()
    clock.now += 60
    assert "x" in file.reload()
    assert applied == []
    families, complete = file.collect(5.0)
    assert not complete
    assert set(helpers.samples(families).values()) == {0.0, began}
    assert {line["log_level"] for line in log_lines} == {"error"}

    assert file.reload() == ""
    assert applied == [Configuration((), None)]
    families, complete = file.collect(5.0)
    assert complete
    assert set(helpers.samples(families).values()) == {1.0, clock.wall()}
