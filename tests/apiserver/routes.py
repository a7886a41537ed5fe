"""HTTP requests to operations on the store."""

from collections.abc import Mapping

import msgspec
from aiohttp import web

from tests.apiserver import discovery
from tests.apiserver.errors import ApiError, JsonObject, invalid
from tests.apiserver.evictions import charge_budget
from tests.apiserver.kinds import Registry
from tests.apiserver.patches import decode
from tests.apiserver.reads import list_objects
from tests.apiserver.store import Store
from tests.apiserver.target import Target, is_true
from tests.apiserver.views import shown, wants_metadata_only
from tests.apiserver.writes import DeleteOptions, WriteOptions, Writer

_JSON_TYPES = ("application/json", "application/octet-stream", "")


def json_response(value: JsonObject, code: int = 200) -> web.Response:
    """A JSON answer."""
    return web.Response(status=code, body=msgspec.json.encode(value), content_type="application/json")


def error_response(error: ApiError) -> web.Response:
    """The Status of a failure, with Retry-After when it has one."""
    response = json_response(error.status(), error.code)
    if error.retry_after_s is not None:
        response.headers["Retry-After"] = str(error.retry_after_s)
    return response


class Routes:
    """Answers everything except watches."""

    def __init__(self, store: Store, registry: Registry, writer: Writer) -> None:
        self._store = store
        self._registry = registry
        self._writer = writer

    def plain(self, request: web.Request) -> web.Response:
        """Paths that are no resource: health, discovery. Raises ApiError 404."""
        if request.path in ("/healthz", "/livez", "/readyz"):
            return web.Response(text="ok")
        document = discovery.document(request.path, self._registry)
        if document is None or request.method != "GET":
            raise ApiError(404, "the server could not find the requested resource")
        wants_metadata_only(request.headers.get("Accept", ""))
        return json_response(document)

    async def answer(self, request: web.Request, target: Target) -> web.Response:
        """Serve a request for a resource. Raises ApiError."""
        metadata_only = wants_metadata_only(request.headers.get("Accept", ""))
        match target.verb:
            case "list":
                return json_response(list_objects(self._store, target, request.query, metadata_only))
            case "get":
                return self._shown(
                    target, self._writer.existing(target.resource, target.namespace, target.name), 200, metadata_only
                )
            case "create":
                return await self._create(request, target, metadata_only)
            case "update":
                body = _object(await request.read(), request.content_type)
                options = write_options(request)
                obj = self._writer.replace(
                    target.resource, target.namespace, target.name, target.subresource, body, options
                )
                return self._shown(target, obj, 200, metadata_only)
            case "patch":
                obj, created = self._writer.patch(
                    target.resource,
                    target.namespace,
                    target.name,
                    target.subresource,
                    request.content_type,
                    await request.read(),
                    write_options(request),
                )
                return self._shown(target, obj, 201 if created else 200, metadata_only)
            case "delete":
                asked = _delete_options(await request.read(), request.query)
                obj, gone = self._writer.delete(target.resource, target.namespace, target.name, asked)
                return self._deleted(target, obj, gone)
            case _:
                return await self._delete_collection(request, target, metadata_only)

    def _shown(self, target: Target, obj: JsonObject, code: int, metadata_only: bool) -> web.Response:
        return json_response(shown(obj, target.resource, metadata_only), code)

    async def _create(self, request: web.Request, target: Target, metadata_only: bool) -> web.Response:
        body = _object(await request.read(), request.content_type)
        options = write_options(request)
        match target.subresource:
            case "":
                obj = self._writer.create(target.resource, target.namespace, body, options)
                return self._shown(target, obj, 201, metadata_only)
            case "binding":
                self._writer.bind(target.resource, target.namespace, body, target.name, options)
                return json_response(_success(), 201)
            case "eviction":
                self._evict(target, body, options)
                return json_response(_success(), 201)
            case _:
                raise ApiError(405, "the server does not allow this method on the requested resource")

    def _evict(self, target: Target, body: JsonObject, options: WriteOptions) -> None:
        if (body.get("metadata") or {}).get("name") != target.name:
            raise ApiError(400, "name in URL does not match name in Eviction object")
        pod = self._writer.existing(target.resource, target.namespace, target.name)
        asked = _parse_delete_options(body.get("deleteOptions") or {}, options.dry_run)
        charge_budget(self._store, pod, asked.dry_run)
        self._writer.delete(target.resource, target.namespace, target.name, asked)

    def _deleted(self, target: Target, obj: JsonObject, gone: bool) -> web.Response:
        if not gone or target.resource.kind in ("Pod", "Namespace"):
            return self._shown(target, obj, 200, metadata_only=False)
        details = {
            "name": target.name,
            "group": target.resource.group,
            "kind": target.resource.plural,
            "uid": obj["metadata"]["uid"],
        }
        return json_response({**_success(), "details": details})

    async def _delete_collection(self, request: web.Request, target: Target, metadata_only: bool) -> web.Response:
        options = _delete_options(await request.read(), request.query)
        listed = list_objects(self._store, target, request.query, metadata_only)
        for item in listed["items"]:
            self._writer.delete(
                target.resource, item["metadata"].get("namespace", ""), item["metadata"]["name"], options
            )
        return json_response(listed)


def _success() -> JsonObject:
    return {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"}


def _object(body: bytes, content_type: str) -> JsonObject:
    if content_type not in _JSON_TYPES:
        raise ApiError(415, f"the body of the request was in an unknown format - {content_type}")
    value = decode(body)
    if not isinstance(value, dict):
        raise ApiError(400, "the body must be an object")
    return value


def write_options(request: web.Request) -> WriteOptions:
    """Query parameters of a write. Raises ApiError 422 for a dryRun other than All."""
    query = request.query
    if query.get("dryRun") not in (None, "All"):
        raise invalid(
            "Options.meta.k8s.io", "", [("FieldValueNotSupported", "dryRun", f'Unsupported value: "{query["dryRun"]}"')]
        )
    return WriteOptions(
        manager=query.get("fieldManager", ""),
        agent=request.headers.get("User-Agent", "unknown").partition("/")[0],
        dry_run=query.get("dryRun") == "All",
        force=is_true(query, "force"),
        strict=query.get("fieldValidation") == "Strict",
    )


def _delete_options(body: bytes, query: Mapping[str, str]) -> DeleteOptions:
    fields = decode(body) if body else {}
    if query.get("gracePeriodSeconds"):
        fields = {**fields, "gracePeriodSeconds": int(query["gracePeriodSeconds"])}
    return _parse_delete_options(fields, query.get("dryRun") == "All")


def _parse_delete_options(fields: JsonObject, dry_run: bool) -> DeleteOptions:
    preconditions = fields.get("preconditions") or {}
    return DeleteOptions(
        grace_s=fields.get("gracePeriodSeconds"),
        uid=preconditions.get("uid") or "",
        resource_version=preconditions.get("resourceVersion") or "",
        dry_run=dry_run or "All" in (fields.get("dryRun") or ()),
    )
