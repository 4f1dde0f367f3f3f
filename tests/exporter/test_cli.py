import pytest

from exporter import __version__, cli, service
from exporter.addresses import ListenAddress
from exporter.environment import unknown_variable
from exporter.options import OWN_PATHS


@pytest.fixture
def started(monkeypatch):
    """Runs the command line; gives (exit status, what the service would have been started with)."""
    calls = []
    monkeypatch.setattr(service, "run", lambda *arguments: calls.append(arguments) or 0)

    def start(*arguments, **environment):
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        calls.clear()
        status = cli.main(list(arguments))
        return status, (calls[0] if calls else None)

    return start


WRONG = [
    (["--vllm.url", "nonsense"], "no URL"),
    (["--vllm.url", "ftp://h"], "no URL"),
    (["--vllm.url", "http://h:0"], "no URL"),
    (["--vllm.url", "http://h:99999"], "no URL"),
    (["--vllm.url", "http://h\nx"], "no URL"),
    (["--vllm.url", "http://user:hunter2@h/#top"], "after #"),
    (["--vllm.timeout", "5"], "no duration"),
    (["--vllm.timeout", "367d"], "more than a year"),
    (["--vllm.timeout", "0s"], "no time"),
    (["--server.name", ""], "no name"),
    (["--server.name", "a\nb"], "no name"),
    (["--server.name", "a", "--server.name", "b"], "2 --server.name for 1 --vllm.url"),
    (["--server.gpus", "0", "--server.gpus", "1"], "2 --server.gpus for 1 --vllm.url"),
    (["--server.gpus", "x,,;"], "'x' in 'x,,;' is no GPU"),
    (["--server.gpus", ","], "'' in ',' is no GPU"),
    (["--server.gpus", "all"], "'all' in 'all' is no GPU"),
    (["--server.gpus", "1" * 5000], "is no GPU"),
    (["--server.gpus", "0,1,0"], "twice"),
    (["--server.gpus", "0,GPU-1"], "mixes"),
    (["--vllm.url", "http://h", "--vllm.url", "http://h/"], "one name"),
    ([f"--vllm.url=http://h:{port}" for port in range(1, 1026)], "1024 at most"),
    (["--config.file", "/nonexistent.yml"], "No such file"),
    (["--config.file", "/"], "directory"),
    (["--config.check=x"], "config.check"),
    (["--web.listen-address", "18000"], "no address"),
    (["--web.listen-address", "::1:18000"], "no address"),
    (["--web.listen-address", ":0"], "port 0"),
    (["--web.listen-address", ":70000"], "port 70000"),
    (["--web.listen-address", ":65536"], "port 65536"),
    (["--web.listen-address", "[::]:0"], "port 0"),
    (["--web.listen-address", ":" + "9" * 5000], "no address"),
    (["--web.listen-address", "a b:80"], "no address"),
    (["--web.telemetry-path", "metrics"], "no path"),
    (["--web.telemetry-path", "/"], "landing page"),
    (["--web.telemetry-path", "/probe"], "page of probes"),
    (["--web.telemetry-path", "/-/healthy"], "health check"),
    (["--web.telemetry-path", "/-/ready"], "health check"),
    (["--web.telemetry-path", "/-/reload"], "reload"),
    (["--web.telemetry-path", "/m/../n"], "no path"),
    (["--web.telemetry-path", "/m\u00e9"], "no path"),
    (["--web.telemetry-path", "/-/x"], "kept for management"),
    (["--web.config.file", "/nonexistent.yml"], "No such file"),
    (["--web.enable-lifecycle=x"], "web.enable-lifecycle"),
    (["--web.max-requests", "0"], "range"),
    (["--cache.window", "5 m"], "no duration"),
    (["--cache.window", "-5m"], "no duration"),
    (["--cache.window", "9" * 5000 + "d"], "no duration"),
    (["--cache.window", "9" * 15 + "d"], "more than a year"),
    (["--gpu.backend", "cuda"], "not one of"),
    (["--gpu.collect", ","], "'' is not to be had: choose energy,pcie"),
    (["--gpu.collect", "energy,"], "'' is not to be had"),
    (["--gpu.collect", "fan"], "choose energy,pcie"),
    (["--gpu.collect", "pcie", "--gpu.backend", "amd"], "amd cannot read pcie"),
    (["--gpu.collect", "energy", "--gpu.backend", "none"], "none cannot read energy"),
    (["--gpu.simulated-file", "x.json"], "needs --gpu.backend simulated"),
    (["--gpu.simulated-file", "/", "--gpu.backend", "simulated"], "directory"),
    (["--gpu.simulated-file", "/nonexistent", "--gpu.backend", "simulated"], "No such file"),
    (["--gpu.simulated-file", "/dev/zero", "--gpu.backend", "simulated"], "not a regular file"),
    (["--gpu.simulated-file", "/dev/null", "--gpu.backend", "simulated"], "not a regular file"),
    (["--gpu.simulated-file", __file__, "--gpu.backend", "simulated"], "not as described"),
    (["--log.level", "loud"], "not one of"),
    (["--log.format", "xml"], "not one of"),
    (["--vllm.ur", "http://h"], "--vllm.url"),
    (["--cache.windo", "5m"], "--cache.window"),
    (["stray"], "stray"),
    (["--vllm.url"], "requires an argument"),
]


@pytest.mark.parametrize(
    ("arguments", "says"), WRONG, ids=lambda v: " ".join(v)[:60] if isinstance(v, list) else ""
)
def test_wrong_flag_is_exit_2_and_one_line_at_the_start_and_at_the_check(
    started, capsys, arguments, says
):
    errors = []
    for check in ([], ["--config.check"]):
        status, call = started(*check, *arguments)
        errors.append(capsys.readouterr().err)
        assert status == 2
        assert call is None
    error = errors[0]
    assert errors == [error, error]
    assert error.count("\n") == 1
    assert error.startswith("vllm-exporter: ")
    assert says in error
    assert "hunter2" not in error


def test_every_flag_has_a_wrong_value_among_the_tests_above():
    tried = {argument.partition("=")[0] for arguments, _ in WRONG for argument in arguments}
    flags = {option for parameter in cli.command.params for option in parameter.opts}
    assert flags - tried == {"--version"}


VALUES = {
    "vllm_url": ("http://h:1", lambda o, c: c.servers[0].url == "http://h:1"),
    "vllm_timeout": ("7s", lambda o, c: c.servers[0].timeout_seconds == 7),
    "server_name": ("chat", lambda o, c: c.servers[0].name == "chat"),
    "server_gpus": ("0,1", lambda o, c: c.servers[0].gpus == "0,1"),
    "web_listen_address": (
        "[::1]:19",
        lambda o, c: o.listen_addresses == (ListenAddress("::1", 19),),
    ),
    "web_telemetry_path": ("/m", lambda o, c: o.telemetry_path == "/m"),
    "web_enable_lifecycle": ("true", lambda o, c: o.lifecycle),
    "web_max_requests": ("7", lambda o, c: o.max_requests == 7),
    "cache_window": ("1h30m", lambda o, c: o.window_seconds == 5400),
    "gpu_backend": ("none", lambda o, c: o.gpu_backend == "none"),
}


@pytest.mark.parametrize("name", VALUES)
def test_flag_can_be_given_as_a_variable_and_the_flag_wins(started, name):
    value, holds = VALUES[name]
    variable = f"VLLM_EXPORTER_{name.upper()}"
    status, (options, configuration, _) = started(**{variable: value})
    assert status == 0
    assert holds(options, configuration)

    parameter = next(p for p in cli.command.params if p.name == name)
    flag = parameter.opts[0]
    wrong = "false" if name == "web_enable_lifecycle" else "\n"
    given = [flag] if name == "web_enable_lifecycle" else [flag, value]
    status, (options, configuration, _) = started(*given, **{variable: wrong})
    assert status == 0
    assert holds(options, configuration)


def test_wrong_variable_is_exit_2_and_one_line(started, capsys):
    assert started(VLLM_EXPORTER_CACHE_WINDOW="soon")[0] == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_variable_that_stands_for_no_flag_is_refused_with_the_nearest_name(started, capsys):
    assert started(VLLM_EXPORTER_CACHE_WINDOWS="5m")[0] == 2
    assert "VLLM_EXPORTER_CACHE_WINDOW?" in capsys.readouterr().err


@pytest.mark.parametrize("value", ["1", "0.1.0", ""])
def test_variable_of_an_image_that_tells_its_version_is_refused_and_not_obeyed(
    started, capsys, value
):
    assert started(VLLM_EXPORTER_VERSION=value)[0] == 2
    assert "VLLM_EXPORTER_VERSION" in capsys.readouterr().err


def test_name_that_is_like_none_gets_no_hint(started, capsys):
    assert started(VLLM_EXPORTER_X="1")[0] == 2
    assert "did you mean" not in capsys.readouterr().err


@pytest.mark.parametrize(
    "name",
    ["SERVICE_HOST", "SERVICE_PORT", "SERVICE_PORT_HTTP", "PORT", "PORT_18000_TCP_ADDR", "B_PORT"],
)
def test_variables_that_kubernetes_sets_for_a_service_are_no_flags(name):
    assert unknown_variable({f"VLLM_EXPORTER_{name}": "x"}, ["vllm_url"]) == ""


def test_several_servers(started):
    urls = ["--vllm.url", "http://a", "--vllm.url", "http://b:1"]
    _, (options, configuration, _) = started(*urls)
    assert [s.name for s in configuration.servers] == ["a:80", "b:1"]
    names = ["--server.name", "A", "--server.name", "B", "--server.gpus", "0", "--server.gpus", "1"]
    _, (options, configuration, _) = started(*urls, *names)
    assert [(s.name, s.gpus) for s in configuration.servers] == [("A", "0"), ("B", "1")]
    _, (options, configuration, _) = started(VLLM_EXPORTER_VLLM_URL="http://a http://b:1")
    assert len(configuration.servers) == 2
    assert options.servers == configuration.servers


def test_several_addresses(started):
    _, (options, _, _) = started(
        "--web.listen-address", "127.0.0.1:1", "--web.listen-address", "[::1]:1"
    )
    assert [str(address) for address in options.listen_addresses] == ["127.0.0.1:1", "[::1]:1"]


def test_file_replaces_the_default_server_but_not_those_of_flags(started, capsys, tmp_path):
    path = tmp_path / "config.yml"
    path.write_text("servers: [{url: 'http://a'}]")
    _, (_, configuration, _) = started("--config.file", str(path))
    assert [s.name for s in configuration.servers] == ["a:80"]
    for flag in ("--vllm.url=http://b", "--server.name=b", "--server.gpus=0"):
        assert started("--config.file", str(path), flag)[0] == 2
        assert "give one" in capsys.readouterr().err
    path.write_text("probe: {allow: ['http://c']}")
    _, (_, configuration, _) = started("--config.file", str(path), "--vllm.url", "http://b")
    assert [s.name for s in configuration.servers] == ["b:80"]


def test_config_check_says_so_and_starts_nothing(started, capsys, tmp_path):
    path = tmp_path / "config.yml"
    path.write_text("servers: [{url: 'http://a'}, {url: 'http://b'}]")
    status, call = started("--config.check", "--config.file", str(path))
    assert (status, call) == (0, None)
    assert capsys.readouterr().out == "in order: 2 servers, probes off\n"
    path.write_text("servers: [{url: a}]")
    assert started("--config.check", "--config.file", str(path))[0] == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert f"{path}: line 1: servers.0.url is wrong" in error


UNWISE = {
    "short window": (["--cache.window", "14s"], "shorter than common scrape intervals"),
    "long window": (["--cache.window", "25h"], "longer than a day"),
    "password": (["--vllm.url", "http://user:hunter2@h"], "password"),
    "query": (["--vllm.url", "http://h/?key=hunter2"], "query"),
    "one URL": (
        [
            *("--vllm.url", "http://h", "--vllm.url", "http://h/"),
            *("--server.name", "a", "--server.name", "b"),
        ],
        "'a' and 'b' have one URL",
    ),
}


@pytest.mark.parametrize(("arguments", "says"), UNWISE.values(), ids=UNWISE)
def test_what_is_seldom_meant_is_one_warning_at_the_start_and_at_the_check(
    started, capsys, arguments, says
):
    for check in ([], ["--config.check"]):
        status, call = started(*check, *arguments)
        assert status == 0
        assert (call is None) == bool(check)
        error = capsys.readouterr().err
        assert error.count("\n") == error.count("level=warning") == 1
        assert says in error
        assert "hunter2" not in error


@pytest.mark.parametrize("window", ["15s", "5m", "1d"])
def test_sensible_start_warns_of_nothing(started, capsys, window):
    started("--cache.window", window, "--vllm.url", "http://h", "--server.gpus", "0,1")
    assert capsys.readouterr().err == ""


def test_simulated_file_in_order_is_taken(started, tmp_path):
    path = tmp_path / "gpus.json"
    path.write_text('{"gpus": [{"total_bytes": 1000, "used_bytes": 1}]}')
    status, (options, _, _) = started(
        "--gpu.backend", "simulated", "--gpu.simulated-file", str(path)
    )
    assert (status, options.simulated_file) == (0, path)


def test_metrics_page_cannot_take_the_path_of_another(started):
    _, (options, configuration, _) = started("--gpu.backend", "none")
    paths = set(service.Exporter(options, configuration).routes) - {"/metrics"}
    assert paths | {"/"} == set(OWN_PATHS)


def test_version_and_help(started, capsys):
    assert started("--version")[0] == 0
    assert __version__ in capsys.readouterr().out
    assert started("--help")[0] == 0
    shown = capsys.readouterr().out
    for parameter in cli.command.params:
        assert parameter.opts[0] in shown


def test_password_of_a_url_is_not_shown(started, capsys):
    assert started("--vllm.url", "http://user:hunter2@h:0")[0] == 2
    assert "hunter2" not in capsys.readouterr().err
    _, (_, configuration, _) = started("--vllm.url", "http://user:hunter2@h:1")
    assert configuration.servers[0].name == "h:1"
