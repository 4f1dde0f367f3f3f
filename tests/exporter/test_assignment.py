import re

import pytest

from exporter.assignment import assign, entries, parse_selection
from exporter.collectors.assignment import AssignmentCollector, RememberingBackend
from exporter.gpu import GPU, GPUError, GPUSnapshot, Identity
from exporter.options import Server

U = ["8f1bd4a2-7f7a-4a33-9e34-0000000000a0", "8f1bd4a2-7f7a-4a33-9e34-0000000000b1"]


@pytest.mark.parametrize(
    ("selection", "read"),
    [
        ("", []),
        ("0", [0]),
        ("0,2", [0, 2]),
        ("0,2,-1,1", [0, 2]),  # everything from the first that cannot be is dropped
        ("0,1,2,1", []),  # there twice: nothing
        ("1gpu2,2ampere", [1, 2]),  # C's strtol
        ("2, +3, -0, 5", [2, 3, 0, 5]),
        ("one,two", []),
        ("4,3,two", [4, 3]),
        ("4,3,two,1", [4, 3]),
        ("GPU-123, 2", ["GPU-123"]),  # kinds are not mixed
        ("0,GPU-123", [0]),
        ("GPU-a,GPU-a", []),
        ("GPU-a,GPU-b,MIG-c", ["GPU-a", "GPU-b"]),
        (f"MIG-{U[0]}", [f"MIG-{U[0]}"]),
        (f"MIG-GPU-{U[0]}/1/0", [f"MIG-GPU-{U[0]}/1/0"]),
        (f"{U[0]},{U[1]}", [f"GPU-{U[0]}", f"GPU-{U[1]}"]),  # as NVML takes them
        ("NoDevFiles", []),
        (" 1 ", [1]),
        (",1", []),
    ],
)
def test_list_is_read_as_cuda_reads_it(selection, read):
    assert entries(selection) == read


@pytest.mark.parametrize(
    "text",
    [
        *("0", "0,2", " 1 , 0 ", "-1", "0,2,-1,1", "GPU-123", f"GPU-{U[0]},GPU-{U[1]}", U[0]),
        *(f"{U[0]},GPU-{U[1]}", f"MIG-GPU-{U[0]}/1/0", f"MIG-{U[0]},MIG-{U[1]}"),
    ],
)
def test_list_of_which_cuda_takes_every_entry_is_kept(text):
    assert parse_selection(text) == text


@pytest.mark.parametrize("text", ["", "  ", "NoDevFiles"])
def test_no_gpu_can_be_said(text):
    assert parse_selection(text) == ""


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (",", "'' in ',' is no GPU"),
        ("0,", "'' in '0,' is no GPU"),
        ("x,,;", "'x'"),
        ("all", "'all'"),
        ("0;1", "'0;1'"),
        ("0 1", "'0 1'"),
        ("-2", "'-2'"),
        ("0x1", "'0x1'"),
        ("1.0", "'1.0'"),
        ("12345", "'12345'"),
        ("\u0661", "is no GPU"),
        ("GPU-", "'GPU-'"),
        ("GPU-a\nb", "is no GPU"),
        ("one\ntwo", "is no GPU"),
        ("0,1,0", "twice"),
        ("0,0,-1", "twice"),
        ("GPU-a,GPU-a", "twice"),
        (f"{U[0]},GPU-{U[0]}", "twice"),
        ("0,GPU-1", "mixes"),
        ("GPU-1,0", "mixes"),
        ("GPU-1,MIG-1", "mixes"),
        ("9" * 10_000, "is no GPU"),
    ],
)
def test_list_of_which_cuda_would_drop_some_is_one_line(text, says):
    with pytest.raises(ValueError, match=re.escape(says)) as caught:
        parse_selection(text)
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 300


def gpu(index, uuid):
    return GPU(index=str(index), uuid=uuid, name="n", memory=None)


GPUS = (gpu(0, f"GPU-{U[0]}"), gpu(1, f"GPU-{U[1]}"), gpu(2, "GPU-c2"))


@pytest.mark.parametrize(
    ("selection", "indices", "unresolved"),
    [
        (None, "012", ()),
        ("", "", ()),
        ("1,0", "10", ()),
        ("0,7", "0", ("7",)),
        (f"GPU-{U[1]}", "1", ()),
        (U[1], "1", ()),
        ("GPU-c", "2", ()),  # shortened, and only one begins so
        ("GPU-8f1b", "", ("GPU-8f1b",)),  # two begin so
        (f"GPU-{U[1].upper()}", "", (f"GPU-{U[1].upper()}",)),
        ("MIG-x", "", ("MIG-x",)),
    ],
)
def test_list_is_resolved_against_the_gpus_of_the_host(selection, indices, unresolved):
    assignment = assign(GPUS, selection)
    assert "".join(g.index for g in assignment.gpus) == indices
    assert assignment.unresolved == unresolved


SNAPSHOT = GPUSnapshot("d", GPUS)


def mapped(servers, helpers, snapshot=SNAPSHOT):
    families, complete = AssignmentCollector(lambda: servers, lambda: snapshot).collect(1.0)
    assert complete
    return sorted(
        (s.labels["server"], s.labels["gpu"]) for family in families for s in family.samples
    )


def test_each_server_is_mapped_to_its_gpus(helpers):
    servers = [Server("a", "http://a", gpus="0,1"), Server("b", "http://b", gpus="GPU-c2")]
    assert mapped(servers, helpers) == [("a", "0"), ("a", "1"), ("b", "2")]


def test_one_server_of_which_nobody_said_has_all_and_several_have_none(helpers):
    one = [Server("a", "http://a")]
    assert mapped(one, helpers) == [("a", "0"), ("a", "1"), ("a", "2")]
    assert mapped([*one, Server("b", "http://b")], helpers) == []


def test_gpu_that_is_not_on_the_host_is_told_once_and_a_lost_one_is_not(helpers, log_lines):
    snapshot = GPUSnapshot("d", GPUS[:1], lost=(Identity("1", f"GPU-{U[1]}"),))
    servers = [Server("a", "http://a", gpus="0,1,7"), Server("b", "http://b", gpus=f"GPU-{U[1]}")]
    collector = AssignmentCollector(lambda: servers, lambda: snapshot)
    for _ in range(3):
        collector.collect(1.0)
    assert [(line["server"], line["gpus"]) for line in log_lines] == [("a", "7")]


def test_no_reading_no_map(helpers):
    assert mapped([Server("a", "http://a")], helpers, None) == []


def test_reading_is_forgotten_when_the_next_one_fails():
    class Backend:
        name = "fake"
        fails = False

        def read(self):
            if self.fails:
                raise GPUError("lost")
            return GPUSnapshot("d", GPUS)

        def close(self):
            pass

    backend = Backend()
    remembering = RememberingBackend(backend)
    assert remembering.read() is remembering.last
    backend.fails = True
    with pytest.raises(GPUError):
        remembering.read()
    assert remembering.last is None
