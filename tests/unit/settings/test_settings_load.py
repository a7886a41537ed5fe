"""TOML and environment into typed settings."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuyaod.errors import SettingsError
from fuyaod.model.qos import QosClass
from fuyaod.model.settings import Settings
from fuyaod.settings_load import load_settings, parse_listen


def write(tmp_path: Path, text: str) -> str:
    file = tmp_path / "fuyaod.toml"
    file.write_text(text)
    return str(file)


def test_load_without_file_gives_defaults() -> None:
    assert load_settings(None, {}) == Settings()


def test_load_file_and_override_override_wins(tmp_path: Path) -> None:
    path = write(tmp_path, '[observe]\ninterval_ms = 500\n[qos]\ndefault_class = "LS"\n')

    settings = load_settings(path, {"FUYAOD_OBSERVE__INTERVAL_MS": "250", "PATH": "/bin"})

    assert settings.observe.interval_ms == 250
    assert settings.qos.default_class is QosClass.LS


def test_load_service_rules_keep_their_order(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        '[[qos.services]]\nunit = "nginx.service"\nclass = "LS"\n'
        '[[qos.services]]\nunit = "batch-*.slice"\nclass = "BE"\n',
    )

    rules = load_settings(path, {}).qos.services

    assert [(r.unit, r.qos) for r in rules] == [("nginx.service", QosClass.LS), ("batch-*.slice", QosClass.BE)]


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("[observe]\nintervall_ms = 5", ["$.observe", "intervall_ms", "did you mean `interval_ms`"]),
        ("[observ]\nx = 5", ["unknown field `observ`", "did you mean `observe`"]),
        ('[observe]\ninterval_ms = "1s"', ["$.observe.interval_ms", "int"]),
        ("[observe]\ninterval_ms = 5", ["$.observe.interval_ms", ">= 100"]),
        ("[observe]\ninterval_ms = 1e9", ["$.observe.interval_ms"]),
        ("[observe]\ninterval_ms = true", ["$.observe.interval_ms", "int"]),
        ('[qos]\ndefault_class = "gold"', ["$.qos.default_class", "gold", "one of HLS, LS, BE"]),
        ('[[qos.services]]\nunit = "a"\nclass = "be"', ["$.qos.services[0].class", "one of HLS, LS, BE"]),
        ('[log]\nlevel = "loud"', ["$.log.level", "one of debug, info, warning, error"]),
        ('[kubernetes]\nserver = "foo"', ["$.kubernetes.server", "http(s)://host"]),
        ('[kubernetes]\nserver = "https://a..b"', ["$.kubernetes.server"]),
        ('[kubernetes]\nserver = "https://a:port"', ["$.kubernetes.server"]),
        ('[kubernetes]\nserver = "ftp://a"', ["$.kubernetes.server"]),
        ("[observe]\ninterval_ms = 60000\n[http]\nstale_after_s = 2", ["$.http.stale_after_s", "two intervals"]),
        ('[[qos.services]]\nunit = ""\nclass = "LS"', ["$.qos.services[0].unit"]),
        ('[[qos.services]]\nunit = "a"', ["$.qos.services[0]", "class"]),
        ('[http]\nlisten = "9917"', ["$.http.listen", "address:port"]),
        ('[http]\nlisten = "127.0.0.1:99999"', ["$.http.listen"]),
        ("[observe\n", ["fuyaod.toml"]),
        ("observe = 3", ["$.observe"]),
    ],
)
def test_load_bad_file_names_file_and_path(tmp_path: Path, text: str, named: list[str]) -> None:
    path = write(tmp_path, text)

    with pytest.raises(SettingsError) as caught:
        load_settings(path, {})

    assert str(caught.value).startswith("cannot")
    for part in named:
        assert part in str(caught.value)
    assert path in str(caught.value)


@pytest.mark.parametrize(
    ("variable", "value", "named"),
    [
        ("FUYAOD_OBSERVE__INTERVAL_MS", "fast", "$.observe.interval_ms"),
        ("FUYAOD_OBSERVE__INTERVAL_MS", "5", "$.observe.interval_ms"),
        ("FUYAOD_OBSERVE__NOPE", "5", "$.observe.nope"),
        ("FUYAOD_NOPE__NOPE__NOPE", "5", "$.nope.nope.nope"),
        ("FUYAOD_QOS__SERVICES", "[]", "is a table"),
        ("FUYAOD_HTTP__LISTEN", "here", "$.http.listen"),
        ("FUYAOD_OBSERVE_INTERVAL_MS", "500", "FUYAOD_OBSERVE__INTERVAL_MS"),
    ],
)
def test_load_bad_override_names_variable_and_path(variable: str, value: str, named: str) -> None:
    with pytest.raises(SettingsError, match="cannot use") as caught:
        load_settings(None, {variable: value})

    assert named in str(caught.value)


def test_load_bad_override_beside_a_good_file_blames_the_variable(tmp_path: Path) -> None:
    path = write(tmp_path, "[observe]\ninterval_ms = 500\n")

    with pytest.raises(SettingsError, match=r"FUYAOD_HTTP__LISTEN") as caught:
        load_settings(path, {"FUYAOD_HTTP__LISTEN": "here"})

    assert path not in str(caught.value)


def test_load_empty_override_takes_the_default_class_away(tmp_path: Path) -> None:
    path = write(tmp_path, '[qos]\ndefault_class = "LS"\n')

    assert load_settings(path, {"FUYAOD_QOS__DEFAULT_CLASS": ""}).qos.default_class is None


@pytest.mark.parametrize(
    "server", ["https://10.0.0.1:6443", "https://[::1]:6443", "http://localhost", "https://kube.example/x"]
)
def test_load_server_of_every_shape_is_taken(server: str) -> None:
    assert load_settings(None, {"FUYAOD_KUBERNETES__SERVER": server}).kubernetes.server == server


def test_load_variables_without_path_are_not_overrides() -> None:
    assert load_settings(None, {"FUYAOD_TEST_KUBECONFIG": "x", "FUYAOD_CONFIG": "y"}) == Settings()


def test_load_missing_file_says_so(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"cannot read settings .*nope\.toml: No such file"):
        load_settings(str(tmp_path / "nope.toml"), {})


def test_load_giant_file_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path, "# " + "x" * (1 << 20))

    with pytest.raises(SettingsError, match="larger than"):
        load_settings(path, {})


def test_load_binary_file_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "fuyaod.toml"
    file.write_bytes(b"\xff\xfe\x00")

    with pytest.raises(SettingsError, match="cannot read"):
        load_settings(str(file), {})


@given(st.binary(max_size=200))
def test_load_any_bytes_give_settings_or_our_error(tmp_path_factory: pytest.TempPathFactory, raw: bytes) -> None:
    file = tmp_path_factory.mktemp("fuzz") / "s.toml"
    file.write_bytes(raw)
    try:
        load_settings(str(file), {})
    except SettingsError as error:
        assert str(error).startswith("cannot")  # noqa: PT017


@pytest.mark.parametrize(
    ("text", "expected"),
    [("127.0.0.1:80", ("127.0.0.1", 80)), ("[::1]:0", ("::1", 0)), ("localhost:9", ("localhost", 9))],
)
def test_parse_listen_good_text_gives_address_and_port(text: str, expected: tuple[str, int]) -> None:
    assert parse_listen(text) == expected


@pytest.mark.parametrize("text", ["", "80", ":80", "a:", "a:b", "a:-1", "a:65536", "a:²"])
def test_parse_listen_bad_text_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="address:port"):
        parse_listen(text)


@pytest.mark.timeout(10)
def test_load_pipe_is_refused_without_waiting_for_a_writer(tmp_path: Path) -> None:
    path = tmp_path / "fuyaod.toml"
    os.mkfifo(path)

    with pytest.raises(SettingsError, match=r"cannot read settings .*pipe"):
        load_settings(str(path), {})


def test_load_null_device_gives_defaults() -> None:
    assert load_settings(os.devnull, {}) == Settings()


def test_load_folder_again_and_again_keeps_no_descriptor(tmp_path: Path) -> None:
    before = len(os.listdir("/proc/self/fd"))

    for _ in range(20):
        with pytest.raises(SettingsError, match="directory"):
            load_settings(str(tmp_path), {})

    assert len(os.listdir("/proc/self/fd")) < before + 10


def test_load_number_of_5000_digits_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path, "[observe]\ninterval_ms = " + "9" * 5000)

    with pytest.raises(SettingsError, match="cannot read settings"):
        load_settings(path, {})


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ('[rpc]\nsocket = "\\u0000"', r"\$\.rpc\.socket"),
        ('[state]\ndir = "/run/\\u0000"', r"\$\.state\.dir"),
        ('[kubernetes]\ntoken_file = "a\\u0000"', r"\$\.kubernetes\.token_file"),
        ('[node]\nname = "a\\nb"', r"\$\.node\.name"),
        ('[[qos.services]]\nunit = "\\u001b[2J"\nclass = "LS"', r"\$\.qos\.services\[0\]\.unit"),
    ],
)
def test_load_text_that_cannot_be_printed_is_refused_by_its_path(tmp_path: Path, text: str, where: str) -> None:
    with pytest.raises(SettingsError, match=where):
        load_settings(write(tmp_path, text), {})


@pytest.mark.parametrize("name", ["FUYAOD_NODE__NAME", "FUYAOD_OBSERVE__INTERVAL_MS"])
def test_override_that_is_no_text_is_refused_by_its_name(name: str) -> None:
    with pytest.raises(SettingsError, match=f"{name}.*udcff"):
        load_settings(None, {name: os.fsdecode(b"\xff")})
