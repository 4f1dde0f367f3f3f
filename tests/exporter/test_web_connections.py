from exporter.web_connections import (
    FIRST_REQUEST_SECONDS,
    IDLE_SECONDS,
    WRITING_SECONDS,
    Connections,
)


class Stream:
    def __init__(self):
        self.open = True

    def close(self):
        self.open = False

    def closed(self):
        return not self.open


def test_each_phase_has_its_patience(clock):
    connections = Connections(10, clock.monotonic)
    new, idle, working, writing, left = streams = [Stream() for _ in range(5)]
    for stream in streams:
        assert connections.admit(stream)
    connections.idle(idle)
    connections.working(working)
    connections.writing(writing)
    left.close()
    connections.sweep(clock.now)
    assert len(connections) == 4
    clock.now += max(FIRST_REQUEST_SECONDS, WRITING_SECONDS) + 1
    connections.sweep(clock.now)
    assert (new.open, writing.open, idle.open, working.open) == (False, False, True, True)
    clock.now += IDLE_SECONDS
    connections.sweep(clock.now)
    assert (idle.open, working.open, len(connections)) == (False, True, 1)


def test_one_too_many_pushes_out_who_waited_longest(clock):
    connections = Connections(3, clock.monotonic)
    first, second, third, fourth = (Stream() for _ in range(4))
    for stream in (first, second, third):
        assert connections.admit(stream)
    connections.working(first)
    assert connections.admit(fourth)
    assert (first.open, second.open, third.open, fourth.open) == (True, False, True, True)


def test_no_room_when_all_are_being_answered():
    connections = Connections(2)
    busy = [Stream(), Stream()]
    for stream in busy:
        connections.admit(stream)
        connections.working(stream)
    assert not connections.admit(Stream())
    assert all(stream.open for stream in busy)
    busy[0].close()
    assert connections.admit(Stream())


def test_phase_of_a_connection_that_was_pushed_out_is_not_taken_up_again():
    connections = Connections(1)
    out = Stream()
    connections.admit(out)
    connections.admit(Stream())
    connections.idle(out)
    assert len(connections) == 1


def test_closing_closes_all():
    connections = Connections(3)
    streams = [Stream() for _ in range(3)]
    for stream in streams:
        connections.admit(stream)
    connections.close()
    assert not any(stream.open for stream in streams)
    assert len(connections) == 0
