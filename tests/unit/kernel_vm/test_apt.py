import pytest

from tests.kernel.vm.apt import AptError, find_mirror


def test_mirror_is_the_one_that_serves_the_release() -> None:
    sources = "http://a/|trixie|trixie|main\nhttp://b/|bookworm|bookworm|contrib\nhttp://c/|bookworm|bookworm|main\n"

    assert find_mirror(sources) == "http://c/"


def test_mirror_configured_by_alias_is_found_by_code_name() -> None:
    assert find_mirror("file:/srv/mirror/|oldstable|bookworm|main\n") == "file:/srv/mirror/"


@pytest.mark.parametrize("sources", ["", "http://a/|bookworm-security|bookworm-security|main\n"], ids=["none", "other"])
def test_mirror_without_a_source_is_an_error(sources: str) -> None:
    with pytest.raises(AptError, match="cannot find bookworm main"):
        find_mirror(sources)
