"""Create, update, patch, apply and delete, with versions, preconditions, dry runs and finalizers."""

from dataclasses import dataclass

from tests.apiserver import crds, kinds, objects, pods
from tests.apiserver.errors import ApiError, JsonObject, conflict, invalid, not_found
from tests.apiserver.kinds import Registry, Resource
from tests.apiserver.ownership import after_update, applied
from tests.apiserver.patches import APPLY_PATCH, decode, patched
from tests.apiserver.store import Store
from tests.apiserver.timestamps import now_text

_NODES = ("", "nodes")
_NAMESPACES = ("", "namespaces")
_CRD = "CustomResourceDefinition"


@dataclass(frozen=True, kw_only=True)
class WriteOptions:
    """Query parameters of a write. `manager` is '' when the client named none, then `agent` (its User-Agent) stands
    in.
    """

    manager: str = ""
    agent: str = "unknown"
    dry_run: bool = False
    force: bool = False
    strict: bool = False


@dataclass(frozen=True, kw_only=True)
class DeleteOptions:
    """Body and query of a delete. `grace_s` None means the default of the object."""

    grace_s: int | None = None
    uid: str = ""
    resource_version: str = ""
    dry_run: bool = False


class Writer:
    """Every change of the store goes through here."""

    def __init__(self, store: Store, registry: Registry) -> None:
        self._store = store
        self._registry = registry

    def existing(self, resource: Resource, namespace: str, name: str) -> JsonObject:
        """The stored object, in the version asked for. Raises ApiError 404."""
        obj = self._store.get(resource.key, namespace, name)
        if obj is None:
            raise not_found(resource.qualified, name)
        return {**obj, "apiVersion": resource.api_version}

    def create(self, resource: Resource, namespace: str, body: JsonObject, options: WriteOptions) -> JsonObject:
        """Store a new object. Raises ApiError 404 (namespace), 409, 422."""
        return self._insert(resource, namespace, body, options, None)

    def _insert(
        self, resource: Resource, namespace: str, body: JsonObject, options: WriteOptions, apply_owner: str | None
    ) -> JsonObject:
        objects.check_identity(resource, namespace, body)
        if resource.namespaced and self._store.get(_NAMESPACES, "", namespace) is None:
            raise not_found("namespaces", namespace)
        obj = objects.named(resource, namespace, body)
        name = obj["metadata"]["name"]
        if self._store.get(resource.key, namespace, name) is not None:
            raise ApiError(409, f'{resource.qualified} "{name}" already exists', reason="AlreadyExists")
        ready = objects.prepared(resource, obj, options.strict)
        if apply_owner is None:
            ready = after_update(resource, None, ready, (options.manager or options.agent, "Update", ""))
        else:
            ready = applied(resource, ready, body, (apply_owner, "Apply", ""), force=True)
        if options.dry_run:
            return ready
        if resource.kind == _CRD:
            self._registry.add(kinds.from_crd(ready))
        return self._store.put(resource.key, ready)

    def replace(
        self, resource: Resource, namespace: str, name: str, subresource: str, body: JsonObject, options: WriteOptions
    ) -> JsonObject:
        """PUT. Raises ApiError 400, 404, 409, 422."""
        objects.check_identity(resource, namespace, body)
        metadata = body.get("metadata") or {}
        if metadata.get("name") != name:
            raise ApiError(
                400, f"the name of the object ({metadata.get('name')}) does not match the name on the URL ({name})"
            )
        old = self.existing(resource, namespace, name)
        if resource.custom and not metadata.get("resourceVersion"):
            cause = (
                "FieldValueInvalid",
                "metadata.resourceVersion",
                "Invalid value: 0x0: must be specified for an update",
            )
            raise invalid(f"{resource.kind}.{resource.group}", name, [cause])
        return self._change(resource, old, {**body, "metadata": metadata}, subresource, options)

    def patch(
        self,
        resource: Resource,
        namespace: str,
        name: str,
        subresource: str,
        content_type: str,
        body: bytes,
        options: WriteOptions,
    ) -> tuple[JsonObject, bool]:
        """PATCH of any type; returns the object and whether an apply created it. Raises ApiError 400, 404, 409, 415,
        422.
        """
        if content_type == APPLY_PATCH:
            return self._apply(resource, namespace, name, subresource, decode(body), options)
        old = self.existing(resource, namespace, name)
        new = patched(resource, old, content_type, body)
        if not isinstance(new.get("metadata"), dict) or new["metadata"].get("name") != name:
            raise ApiError(400, "a patch must leave metadata.name as it is")
        return self._change(resource, old, new, subresource, options), False

    def _apply(
        self, resource: Resource, namespace: str, name: str, subresource: str, config: JsonObject, options: WriteOptions
    ) -> tuple[JsonObject, bool]:
        if not options.manager:
            raise invalid(
                "PatchOptions.meta.k8s.io",
                "",
                [("FieldValueRequired", "fieldManager", "Required value: is required for apply patch")],
            )
        objects.check_identity(resource, namespace, config)
        if (config.get("metadata") or {}).get("name", name) != name:
            raise ApiError(400, "metadata.name in the applied configuration does not match the URL")
        config = {**config, "metadata": {**(config.get("metadata") or {}), "name": name}}
        if config["metadata"].get("managedFields"):
            raise ApiError(400, "metadata.managedFields must be nil")
        old = self._store.get(resource.key, namespace, name)
        if old is None and subresource == "":
            return self._insert(resource, namespace, config, options, options.manager), True
        old = self.existing(resource, namespace, name)
        owner = (options.manager, "Apply", subresource)
        new = applied(resource, old, config, owner, options.force)
        self._check_preconditions(resource, old, config)
        return self._change(resource, old, new, subresource, options, managed=new["metadata"]["managedFields"]), False

    def _change(
        self,
        resource: Resource,
        old: JsonObject,
        new: JsonObject,
        subresource: str,
        options: WriteOptions,
        managed: list[JsonObject] | None = None,
    ) -> JsonObject:
        self._check_preconditions(resource, old, new)
        ready = self._checked(resource, old, objects.changed(resource, old, new, subresource), subresource, options)
        if managed is not None:
            ready = {**ready, "metadata": {**ready["metadata"], "managedFields": managed}}
        same = objects.without_bookkeeping(ready) == objects.without_bookkeeping(old)
        if same and managed in (None, old["metadata"].get("managedFields", [])):
            return old
        if subresource != "status" and objects.wants_generation(resource, old, ready):
            ready = _bumped(ready)
        if managed is None:
            ready = after_update(resource, old, ready, (options.manager or options.agent, "Update", subresource))
        return ready if options.dry_run else self._stored(resource, ready)

    def _check_preconditions(self, resource: Resource, old: JsonObject, new: JsonObject) -> None:
        name, metadata = old["metadata"]["name"], new["metadata"]
        wanted = metadata.get("resourceVersion")
        if wanted and wanted != old["metadata"]["resourceVersion"]:
            why = "the object has been modified; please apply your changes to the latest version and try again"
            raise conflict(resource.qualified, name, why)
        if metadata.get("uid") and metadata["uid"] != old["metadata"]["uid"]:
            raise conflict(resource.qualified, name, f"Precondition failed: UID in precondition: {metadata['uid']}")

    def _checked(
        self, resource: Resource, old: JsonObject, new: JsonObject, subresource: str, options: WriteOptions
    ) -> JsonObject:
        if resource.custom:
            return objects.conforming(resource, new, options.strict)
        match resource.kind, subresource:
            case "Pod", "":
                pods.check_update(old, new)
            case "Pod", "resize":
                pods.check_resize(old, new, self._store.get(_NODES, "", old["spec"].get("nodeName", "")))
            case "CustomResourceDefinition", "":
                crds.check_crd(new)
        return new

    def _stored(self, resource: Resource, obj: JsonObject) -> JsonObject:
        metadata = obj["metadata"]
        if (
            metadata.get("deletionTimestamp")
            and not metadata.get("finalizers")
            and not metadata.get("deletionGracePeriodSeconds")
        ):
            self._store.put(resource.key, obj)
            return self._store.drop(resource.key, obj)
        if resource.kind == _CRD:
            self._registry.add(kinds.from_crd(obj))
        return self._store.put(resource.key, obj)

    def delete(self, resource: Resource, namespace: str, name: str, options: DeleteOptions) -> tuple[JsonObject, bool]:
        """DELETE; returns the last state and whether the object is gone. Raises ApiError 404, 409."""
        obj = self.existing(resource, namespace, name)
        metadata = obj["metadata"]
        for given, field in ((options.uid, "uid"), (options.resource_version, "resourceVersion")):
            if given and given != metadata[field]:
                raise conflict(
                    resource.qualified,
                    name,
                    f"the {field} in the precondition ({given}) does not match ({metadata[field]})",
                )
        grace_s = _grace_s(obj, options.grace_s) if resource.kind == "Pod" else None
        if options.dry_run:
            return obj, grace_s in (None, 0) and not metadata.get("finalizers")
        if grace_s is None and not metadata.get("finalizers"):
            return self._removed(resource, obj), True
        if _is_final(metadata, grace_s):
            return obj, False
        marked = _bumped(obj) if resource.counts_generation else obj
        marks = {"deletionTimestamp": now_text(grace_s or 0), "deletionGracePeriodSeconds": grace_s or 0}
        stored = self._store.put(resource.key, {**marked, "metadata": {**marked["metadata"], **marks}})
        if grace_s or metadata.get("finalizers"):
            return stored, False
        return self._removed(resource, stored), True

    def _removed(self, resource: Resource, obj: JsonObject) -> JsonObject:
        if resource.kind == "Namespace":
            self._store.purge([key for key in self._store.known() if key != _NAMESPACES], obj["metadata"]["name"])
        if resource.kind == _CRD:
            key = (obj["spec"]["group"], obj["spec"]["names"]["plural"])
            for custom in self._store.items(key):
                self._store.drop(key, custom)
            self._registry.remove(key)
        return self._store.drop(resource.key, obj)

    def bind(self, pod_resource: Resource, namespace: str, body: JsonObject, name: str, options: WriteOptions) -> None:
        """Assign a pod to a node. Raises ApiError 404, 409 (already assigned)."""
        pod = self.existing(pod_resource, namespace, name)
        node = (body.get("target") or {}).get("name")
        if not node:
            raise invalid("Binding", name, [("FieldValueRequired", "target.name", "Required value")])
        self._check_preconditions(pod_resource, pod, {"metadata": {"uid": (body.get("metadata") or {}).get("uid")}})
        if pod["spec"].get("nodeName"):
            raise conflict("pods/binding", name, f'pod {name} is already assigned to node "{pod["spec"]["nodeName"]}"')
        others = [c for c in pod["status"].get("conditions", ()) if c["type"] != "PodScheduled"]
        scheduled = {"type": "PodScheduled", "status": "True", "lastProbeTime": None, "lastTransitionTime": now_text()}
        status = {**pod["status"], "conditions": [*others, scheduled]}
        bound = _bumped({**pod, "spec": {**pod["spec"], "nodeName": node}, "status": status})
        if not options.dry_run:
            self._store.put(pod_resource.key, bound)


def _bumped(obj: JsonObject) -> JsonObject:
    metadata = obj["metadata"]
    return {**obj, "metadata": {**metadata, "generation": metadata.get("generation", 0) + 1}}


def _grace_s(pod: JsonObject, asked_s: int | None) -> int:
    """Seconds a pod gets to end. Source: podStrategy.CheckGracefulDelete in the Kubernetes sources."""
    if not pod["spec"].get("nodeName") or pod["status"].get("phase") in ("Succeeded", "Failed"):
        return 0
    grace_s = pod["spec"].get("terminationGracePeriodSeconds", 0) if asked_s is None else asked_s
    return 1 if grace_s < 0 else int(grace_s)


def _is_final(metadata: JsonObject, grace_s: int | None) -> bool:
    """Whether a delete changes nothing: already terminating, and the new grace period is no shorter."""
    if not metadata.get("deletionTimestamp"):
        return False
    return grace_s is None or 0 < metadata.get("deletionGracePeriodSeconds", 0) <= grace_s
