"""Times as the API writes them."""

from datetime import UTC, datetime, timedelta


def now_text(later_s: int = 0) -> str:
    """The current second (plus `later_s`) in RFC 3339, as `creationTimestamp` carries it."""
    return (datetime.now(UTC) + timedelta(seconds=later_s)).strftime("%Y-%m-%dT%H:%M:%SZ")
