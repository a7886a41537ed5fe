"""The resources the server knows: a table of built-in kinds, and the ones that CustomResourceDefinitions add."""

from dataclasses import dataclass, field

from tests.apiserver.errors import JsonObject

GroupResource = tuple[str, str]


@dataclass(frozen=True, kw_only=True)
class Resource:
    """One resource in one API version."""

    group: str
    version: str
    plural: str
    kind: str
    namespaced: bool
    subresources: frozenset[str] = frozenset()
    counts_generation: bool = False
    short_names: tuple[str, ...] = ()
    list_kind: str = ""
    custom: bool = False
    schema: JsonObject = field(default_factory=dict)

    @property
    def key(self) -> GroupResource:
        """What identifies its objects in the store; the same for every version."""
        return (self.group, self.plural)

    @property
    def api_version(self) -> str:
        """`v1` or `group/version`, as objects carry it."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def qualified(self) -> str:
        """`pods` or `deployments.apps`, as messages name it."""
        return f"{self.plural}.{self.group}" if self.group else self.plural


# group/version | kind | plural | scope (N namespaced, C cluster) | subresources | G = has a generation | short names
_BUILTIN = """
v1 Namespace namespaces C status,finalize - ns
v1 Node nodes C status - no
v1 Pod pods N status,eviction,binding,resize,ephemeralcontainers G po
v1 Service services N status - svc
v1 Endpoints endpoints N - - ep
v1 ConfigMap configmaps N - - cm
v1 Secret secrets N - - -
v1 Event events N - - ev
v1 ServiceAccount serviceaccounts N - - sa
v1 PersistentVolumeClaim persistentvolumeclaims N status - pvc
v1 ReplicationController replicationcontrollers N status G rc
apps/v1 Deployment deployments N status G deploy
apps/v1 ReplicaSet replicasets N status G rs
apps/v1 StatefulSet statefulsets N status G sts
apps/v1 DaemonSet daemonsets N status G ds
apps/v1 ControllerRevision controllerrevisions N - - -
batch/v1 Job jobs N status G -
batch/v1 CronJob cronjobs N status G cj
autoscaling/v2 HorizontalPodAutoscaler horizontalpodautoscalers N status - hpa
policy/v1 PodDisruptionBudget poddisruptionbudgets N status G pdb
coordination.k8s.io/v1 Lease leases N - - -
discovery.k8s.io/v1 EndpointSlice endpointslices N - G -
networking.k8s.io/v1 NetworkPolicy networkpolicies N - G netpol
rbac.authorization.k8s.io/v1 Role roles N - - -
rbac.authorization.k8s.io/v1 RoleBinding rolebindings N - - -
rbac.authorization.k8s.io/v1 ClusterRole clusterroles C - - -
rbac.authorization.k8s.io/v1 ClusterRoleBinding clusterrolebindings C - - -
scheduling.k8s.io/v1 PriorityClass priorityclasses C - G pc
node.k8s.io/v1 RuntimeClass runtimeclasses C - - -
resource.k8s.io/v1 ResourceSlice resourceslices C - G -
resource.k8s.io/v1 ResourceClaim resourceclaims N status - -
resource.k8s.io/v1 DeviceClass deviceclasses C - G -
apiextensions.k8s.io/v1 CustomResourceDefinition customresourcedefinitions C status G crd,crds
"""


def builtin() -> list[Resource]:
    """The built-in resources."""
    return [_parse_row(row) for row in _BUILTIN.strip().splitlines()]


def _parse_row(row: str) -> Resource:
    group_version, kind, plural, scope, subresources, generation, short = row.split()
    group, _, version = group_version.rpartition("/")
    return Resource(
        group=group,
        version=version,
        plural=plural,
        kind=kind,
        namespaced=scope == "N",
        subresources=frozenset(subresources.split(",")) - {"-"},
        counts_generation=generation == "G",
        short_names=tuple(name for name in short.split(",") if name != "-"),
        list_kind=f"{kind}List",
    )


def from_crd(crd: JsonObject) -> list[Resource]:
    """The served versions of one CustomResourceDefinition (validated before, see `crds`)."""
    spec = crd["spec"]
    names = spec["names"]
    return [
        Resource(
            group=spec["group"],
            version=version["name"],
            plural=names["plural"],
            kind=names["kind"],
            namespaced=spec["scope"] == "Namespaced",
            subresources=frozenset(version.get("subresources", {})) & {"status"},
            counts_generation=True,
            short_names=tuple(names.get("shortNames", ())),
            list_kind=names.get("listKind") or f"{names['kind']}List",
            custom=True,
            schema=version["schema"]["openAPIV3Schema"],
        )
        for version in spec["versions"]
        if version["served"]
    ]


class Registry:
    """Which resources are served right now."""

    def __init__(self) -> None:
        self._resources = {(r.group, r.version, r.plural): r for r in builtin()}

    def find(self, group: str, version: str, plural: str) -> Resource | None:
        """The resource behind a URL, or None when no such path is served."""
        return self._resources.get((group, version, plural))

    def all(self) -> list[Resource]:
        """Every resource, built-in ones first."""
        return list(self._resources.values())

    def add(self, resources: list[Resource]) -> None:
        """Serve the resources, replacing older definitions of the same name."""
        self._resources.update({(r.group, r.version, r.plural): r for r in resources})

    def remove(self, key: GroupResource) -> None:
        """Stop serving a resource in all its versions."""
        self._resources = {at: r for at, r in self._resources.items() if r.key != key}
