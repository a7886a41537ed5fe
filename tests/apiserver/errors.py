"""Failures of the API, as the `Status` object the server answers with."""

from typing import Any

JsonObject = dict[str, Any]

_REASONS = {
    400: "BadRequest",
    401: "Unauthorized",
    403: "Forbidden",
    404: "NotFound",
    405: "MethodNotAllowed",
    406: "NotAcceptable",
    409: "Conflict",
    410: "Expired",
    413: "RequestEntityTooLarge",
    415: "UnsupportedMediaType",
    422: "Invalid",
    429: "TooManyRequests",
    500: "InternalError",
    503: "ServiceUnavailable",
    504: "Timeout",
}


class ApiError(Exception):
    """A request the server refuses.

    `code` is the HTTP status, `reason` the machine-readable word of the Status object (by default the usual one of the
    code), `retry_after_s` becomes the Retry-After header, `causes` the list of field errors.
    """

    def __init__(
        self,
        code: int,
        message: str,
        *,
        reason: str | None = None,
        retry_after_s: int | None = None,
        causes: list[JsonObject] | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.reason = reason or _REASONS.get(code, "Unknown")
        self.retry_after_s = retry_after_s
        self.causes = causes or []

    def status(self) -> JsonObject:
        """The `Status` object that describes this failure."""
        details: JsonObject = {}
        if self.causes:
            details["causes"] = self.causes
        if self.retry_after_s is not None:
            details["retryAfterSeconds"] = self.retry_after_s
        return {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": self.message,
            "reason": self.reason,
            "details": details,
            "code": self.code,
        }


def not_found(what: str, name: str) -> ApiError:
    """404 for an object of the plural resource `what`."""
    return ApiError(404, f'{what} "{name}" not found')


def conflict(what: str, name: str, why: str) -> ApiError:
    """409 for a write that lost against another one."""
    return ApiError(409, f'Operation cannot be fulfilled on {what} "{name}": {why}')


def invalid(kind: str, name: str, causes: list[tuple[str, str, str]]) -> ApiError:
    """422 with field errors given as (reason, field, message)."""
    listed = "; ".join(f"{field}: {message}" for _, field, message in causes)
    return ApiError(
        422,
        f'{kind} "{name}" is invalid: {listed}',
        causes=[{"reason": reason, "field": field, "message": message} for reason, field, message in causes],
    )


def expired(message: str = "too old resource version") -> ApiError:
    """410: the history asked for has been compacted."""
    return ApiError(410, message, reason="Expired")
