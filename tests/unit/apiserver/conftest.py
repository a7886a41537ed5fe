"""The API server under test."""

from tests.apiserver.fixtures import apiserver

__all__ = ["apiserver"]
