"""`NodeSnapshot` as the `fuyao.node.v1.Node` message. Pure.

What is None in the snapshot stays unset in the message. A number that its field cannot hold becomes the nearest that it
can. Raises ValueError (UnicodeEncodeError is one) for text that is no Unicode; the snapshot's JSON has the same limit.
"""

from __future__ import annotations

from fuyao_api.node.v1 import node_pb2 as pb
from fuyaod.model.cgroup import CgroupTree
from fuyaod.model.findings import Finding
from fuyaod.model.process import Census, OwnBudget
from fuyaod.model.snapshot import HostIdentity, NodeSnapshot
from fuyaod.rpc.convert_groups import Groups, enum_name, system_pressure_message
from fuyaod.rpc.convert_machine import (
    accelerator_message,
    cpu_time_message,
    memory_message,
    nic_message,
    numa_memory_message,
    topology_message,
)
from fuyaod.rpc.convert_pods import fill_pod, fill_service, source_message
from fuyaod.rpc.fit import fitted


def node_message(snapshot: NodeSnapshot) -> pb.Node:
    """The whole node; the groups of pods, containers and services stand in them, the rest in `cgroups.other_groups`."""
    try:
        return _node_message(snapshot)
    except UnicodeError:
        raise
    except ValueError:  # a number out of its field's range, so rare that looking at each first would be a waste
        return _node_message(fitted(snapshot))


def _node_message(snapshot: NodeSnapshot) -> pb.Node:
    message = pb.Node(
        schema=snapshot.schema,
        seq=snapshot.seq,
        at_monotonic_ns=snapshot.at_ns,
        at_unix_s=snapshot.wall_s,
        host=_host(snapshot.host),
        topology=topology_message(snapshot.topology),
        accelerators=[accelerator_message(device) for device in snapshot.topology.devices],
        nics=[nic_message(nic) for nic in snapshot.nics],
        memory=memory_message(snapshot.memory),
        numa_memory=[numa_memory_message(memory) for memory in snapshot.node_memory],
        cpu_time=cpu_time_message(snapshot.cpu_time),
        pressure=system_pressure_message(snapshot.pressure),
        cgroups=_cgroups(snapshot.cgroups),
        sources=[source_message(source) for source in snapshot.sources],
        census=_census(snapshot.census),
        agent=_agent(snapshot.own),
        findings=[_finding(finding) for finding in snapshot.findings],
    )
    groups = Groups(snapshot.cgroups)
    for pod in snapshot.pods:
        fill_pod(message.pods.add(), pod, groups)
    for service in snapshot.services:
        fill_service(message.services.add(), service, groups)
    groups.add_not_taken(message.cgroups.other_groups)
    return message


def _host(host: HostIdentity) -> pb.Host:
    return pb.Host(
        node_name=host.node_name,
        kernel_release=host.kernel_release,
        machine=host.machine,
        os_id=host.os_id,
        os_version=host.os_version,
        boot_time_unix_s=host.boot_time_s,
    )


def _cgroups(tree: CgroupTree) -> pb.Cgroups:
    return pb.Cgroups(
        mode=enum_name("CGROUP_MODE", tree.mode),
        mount=tree.mount,
        controllers=tree.controllers,
        observed_groups=len(tree.samples),
        kept_descriptors=tree.kept_descriptors,
        unreadable=tree.unreadable,
        unreadable_more=tree.unreadable_more,
        left_out=tree.left_out,
    )


def _census(census: Census | None) -> pb.Census | None:
    if census is None:
        return None
    return pb.Census(
        at_monotonic_ns=census.at_ns,
        processes=census.processes,
        threads=census.threads,
        rss_bytes=census.rss_bytes,
        in_pods=census.in_pods,
        top=[
            pb.Process(
                pid=process.pid,
                name=process.name,
                cgroup_path=process.cgroup_path,
                cpu_time_us=process.cpu_time_us,
                rss_bytes=process.rss_bytes,
                threads=process.threads,
            )
            for process in census.top
        ],
    )


def _agent(own: OwnBudget | None) -> pb.AgentUsage | None:
    if own is None:
        return None
    return pb.AgentUsage(
        rss_bytes=own.rss_bytes,
        cpu_time_us=own.cpu_time_us,
        open_descriptors=own.open_descriptors,
        descriptor_limit=own.descriptor_limit,
        kernel_pinned_bytes=own.kernel_pinned_bytes,
    )


def _finding(finding: Finding) -> pb.Finding:
    return pb.Finding(
        id=finding.id,
        status=enum_name("FINDING_STATUS", finding.status),
        summary=finding.summary,
        cost=finding.cost,
        mend=finding.mend,
    )
