"""Where the API server is found."""

from __future__ import annotations

import pytest

from fuyaod.kube.address import ApiAddress, find_address
from fuyaod.model.settings import Kubernetes, Switch

POD = {"KUBERNETES_SERVICE_HOST": "10.0.0.1", "KUBERNETES_SERVICE_PORT": "6443"}


def test_address_in_a_pod_is_the_one_of_its_environment() -> None:
    found = find_address(Kubernetes(token_file="/t", ca_file="/c"), POD)

    assert found == ApiAddress(url="https://10.0.0.1:6443", token_file="/t", ca_file="/c")


def test_address_of_ipv6_host_is_bracketed() -> None:
    found = find_address(Kubernetes(), {"KUBERNETES_SERVICE_HOST": "fd00::1"})

    assert found is not None
    assert found.url == "https://[fd00::1]:443"


def test_address_of_the_settings_wins_and_plain_http_needs_no_ca() -> None:
    found = find_address(Kubernetes(server="http://127.0.0.1:8001/", token_file=""), POD)

    assert found == ApiAddress(url="http://127.0.0.1:8001")


@pytest.mark.parametrize(("switch", "environment"), [(Switch.OFF, POD), (Switch.AUTO, {}), (Switch.ON, {})])
def test_address_is_none_when_off_or_nowhere(switch: Switch, environment: dict[str, str]) -> None:
    assert find_address(Kubernetes(enabled=switch), environment) is None
