"""Tests of `fuyaod.doctor`."""
