"""The typed settings: one tree, every range in its type. Read by `fuyaod.settings_load`, nowhere else."""

from __future__ import annotations

import enum
from typing import Annotated

import msgspec
from msgspec import Meta

from fuyaod.model.qos import QosClass


class Section(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A table of the settings file: unknown keys are refused."""


class Node(Section, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`name`: this node's name in Kubernetes and in reports; empty takes the host name."""

    name: Annotated[str, Meta(max_length=253)] = ""


class Observe(Section, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How often the node is looked at.

    `interval_ms`: one tick. `slow_every_ticks`: what changes slowly is read on every n-th tick, staggered over the
    groups. `topology_interval_s`: CPUs, nodes and devices are read again at least this often, hotplug events or not.
    `census_interval_s`: a sweep over the processes outside pods. `census_chunk`: processes looked at per tick.
    `max_cgroups`: groups beyond this many are counted and left out.
    """

    interval_ms: Annotated[int, Meta(ge=100, le=60_000)] = 1000
    slow_every_ticks: Annotated[int, Meta(ge=1, le=60)] = 5
    topology_interval_s: Annotated[int, Meta(ge=5, le=86_400)] = 300
    census_interval_s: Annotated[int, Meta(ge=5, le=3600)] = 30
    census_chunk: Annotated[int, Meta(ge=10, le=10_000)] = 100
    census_top: Annotated[int, Meta(ge=0, le=200)] = 20
    max_cgroups: Annotated[int, Meta(ge=100, le=100_000)] = 10_000


class ServiceRule(Section, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Systemd units whose name matches the shell pattern `unit` belong to `class`. The first rule that matches
    counts."""

    unit: Annotated[str, Meta(min_length=1, max_length=256)]
    qos: QosClass = msgspec.field(name="class")


class Qos(Section, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`default_class`: for pods that claim none; unset leaves them alone. `services`: bare-metal units and their
    class."""

    default_class: QosClass | None = None
    services: tuple[ServiceRule, ...] = ()


class Switch(enum.Enum):
    """`auto`: on where the surroundings have it."""

    AUTO = "auto"
    ON = "on"
    OFF = "off"


class Kubernetes(Section, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The API server. An empty `server` takes the one that every pod is told of, with the pod's own service account.

    `token_file`, `ca_file`: empty takes the service account's files where `server` is empty too, else none.
    `owner_labels`: read labels of Deployments and Jobs too (metadata only; needs the optional role).
    """

    enabled: Switch = Switch.AUTO
    server: Annotated[str, Meta(max_length=2048)] = ""
    token_file: str = ""
    ca_file: str = ""
    owner_labels: bool = True


class Http(Section, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`/metrics` and `/healthz`. `listen` is `address:port`; port 0 takes a free one; empty switches it off.

    `stale_after_s`: readiness fails when the last snapshot is older.
    """

    listen: str = "127.0.0.1:9917"
    stale_after_s: Annotated[int, Meta(ge=2, le=3600)] = 15


class Rpc(Section, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The node API. `socket`: path of its Unix socket; empty takes `fuyaod.sock` in the run-time folder."""

    socket: Annotated[str, Meta(max_length=100)] = ""


class LogFormat(enum.Enum):
    """`auto`: text on a terminal, JSON elsewhere."""

    AUTO = "auto"
    TEXT = "text"
    JSON = "json"


class LogLevel(enum.Enum):
    """Info is a change of state, warning is degraded, error needs a person."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class Log(Section, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is written to standard error, and how."""

    level: LogLevel = LogLevel.INFO
    format: LogFormat = LogFormat.AUTO


class State(Section, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`dir`: run-time folder for the socket and the journal; empty takes `/run/fuyaod` as root, else the user's
    run-time folder."""

    dir: str = ""


class Settings(Section, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The whole tree; every default is one that is safe on a machine nobody has described."""

    node: Node = Node()
    observe: Observe = Observe()
    qos: Qos = Qos()
    kubernetes: Kubernetes = Kubernetes()
    http: Http = Http()
    rpc: Rpc = Rpc()
    log: Log = Log()
    state: State = State()
