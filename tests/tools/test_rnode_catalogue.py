#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""RNode's catalogue in examples/rnode is complete: every name that a reading of the sources of
RNode and of its successor found is there, as the instrument that it is (was, should be), and
nothing beyond them is there. The list is written here a second time, by hand and with braces, so
that neither can lose a name on its own."""

import itertools
import re

import toolslib
from toolslib import ROOT, Failure, equal

from crest_catalogue import exported_names, load

FOLDER = ROOT / "examples/rnode"

# status, instrument, names. Those of RNode's head of dev first, by module.
NAMES = """
active gauge   rchain.comm.{discovery.kademlia,rp.connect}.peers
active counter rchain.comm.discovery.kademlia.handle.{ping,lookup}
active counter rchain.comm.discovery.kademlia.grpc.{ping,protocol-lookup-send}
active timer   rchain.comm.discovery.kademlia.grpc.{ping,lookup}-time
active counter rchain.comm.rp.connect.connect
active timer   rchain.comm.rp.connect.connect-time
active counter rchain.comm.rp.handle.disconnect
active counter rchain.comm.rp.transport.send
active timer   rchain.comm.rp.transport.send-time
active counter rchain.comm.rp.transport.{packets,stream.chunks}.{received,enqueued,dropped}
active counter rchain.comm.rp.transport.dispatched.{messages,packets}
active counter rchain.rspace{,.replay,.reporting}.comm.{consume,produce}
active timer   rchain.rspace{,.replay,.reporting}.{comm.consume,comm.produce,install}-time
active gauge   rchain.rspace{,.replay,.reporting}.two-step-lock.phase-{a,b}.lock.queue
active timer   rchain.rspace{,.replay,.reporting}.two-step-lock.phase-{a,b}.lock.acquire
active gauge   rchain.block-storage.dag-key-value-store.lock.{queue,permit}
active timer   rchain.block-storage.dag-key-value-store.lock.acquire
active gauge   rchain.casper.report-replay.lock.{queue,permit}
active timer   rchain.casper.report-replay.lock.acquire
active gauge   rchain.rholang.{runtime,reportingRuntime}.lock.{queue,permit}
active timer   rchain.rholang.{runtime,reportingRuntime}.lock.acquire

lost gauge   rchain.casper.add-block.block-height
lost timer   rchain.casper.casper.{add,create}-block-time
lost counter rchain.block-api.{propose,propose-failed}
lost timer   rchain.block-api.propose-total-time
lost gauge   rchain.casper.replay-into-merge-block.uncommon_ancestors
lost counter rchain.casper.approve-block.genesis
lost counter rchain.casper.{block-requester,blocks-retriever}.block-retrieve-failed
lost gauge   rchain.casper.runtime-manager.lock.queue
lost timer   rchain.casper.runtime-manager.lock.acquire
lost counter rchain.block-storage.{in-mem,lmdb}.{get,put,find,as-map}
lost gauge   {,rchain.rspace.{,history.}lmdb.}size
lost gauge   {,rchain.rspace.{{,history.}lmdb,in-mem,lock-free-in-mem,history}.}entries
lost counter rchain.comm.rp.transport.round-trip
lost timer   rchain.comm.rp.transport.round-trip-time
lost gauge   rchain.comm.{rp.transport,discovery.kademlia.grpc}.connections
lost gauge   rchain.node.diagnostics.jvm.process.cpu.{time,load}
lost gauge   rchain.node.diagnostics.jvm.memory.{heap,non-heap}.{commited,init,max,used}
lost gauge   rchain.node.diagnostics.jvm.gc.{COLLECTORS}.{total-collections,total-collection-time}
lost gauge   rchain.node.diagnostics.jvm.gc.{COLLECTORS}.{start-time,end-time,duration}
lost gauge   rchain.node.diagnostics.jvm.mempool.{POOLS}{,.peak}.{commited,init,max,used}
lost gauge   rchain.node.diagnostics.jvm.thread.{count,count-daemon,count-peak,total-started}
lost gauge   {total,rspace}-size-on-disk
lost gauge   rspace-{data-entries,consumes-count,consume-avg-ms,produces-count,produces-avg-ms}
lost counter connects
lost histogram {connect-time-ms,network-roundtrip-micros}
lost counter {ping,lookup,disconnect,p2p-encryption-handshake,p2p-protocol-handshake}-recv-count

planned timer rchain.comm.discovery.discovery-time
planned timer rchain.casper.{consensus,block-propagation,block-coverage,node-join}-time

active  timer   block.download.end-to-end-time
active  timer   block.processing.stage.{validation-setup,storage,replay,parents-post-state}.time
active  timer   block.validation.time
active  counter block.validation.{success,failed}
active  timer   block.validation.{STEPS}.time
active  timer   block.validation.step.{WIDE_STEPS}.time
active  timer   block.replay.phase.{reset,user-deploys,system-deploys,create-checkpoint}.time
active  timer   block-creator.{prepare-user-deploys,package-block,total}.time
active  timer   block-creator.compute-{parents-post-state,deploys-checkpoint}.time
active  timer   dag.merge.{branches,conflicts-map,channel-reads,combine-changes}.time
active  timer   dag.merge.rejection-{options,expansion}.time
active  counter dag.merge.rejection-expansion.fired
planned timer   dag.merge.{total,index,conflict,compute-trie-actions,apply-trie-actions}.time
planned histogram dag.merge.scope
active  timer   {finalizer.run,clique-oracle.compute,dag.insert}.time
active  gauge   proposer.queue.pending
active  counter proposer.queue.rejected.total
active  counter block.requests.{total,retries,stale-evictions}
active  timer   casper.init.time-to-{approved-block,running}
active  gauge   {active-validators,block-index,parents-post-state}-cache.size
active  gauge   deploys-in-scope.size
planned timer   block.{broadcast,receive-buffer}.time

lost gauge   process-cpu-{time,load}
lost gauge   memory-{heap,non-heap}-{commited,init,max,used}
lost gauge   gc-{COLLECTORS}-{total-collections,total-collection-time,start-time,end-time,duration}
lost gauge   mempool-{POOLS}{,-peak}-{commited,init,max,used}
lost gauge   thread-{count,count-daemon,count-peak,total-started}
lost gauge   {,kademlia-}peers
lost counter protocol-{ping-sends,lookup-send}
lost counter unicast-{send,recv}{s,-bytes}
lost counter rchain.comm.rp.transport.{received,enqueued,dropped}.packets
lost counter rchain.comm.rp.transport.{enqueued,dropped}.messages
lost counter {rspace,replayrspace}.comm.{consume,produce}
lost counter {,lmdb-}block-store-{get,put,find,as-map}
lost counter genesis-block-approvals
lost gauge   rchain.block-storage.{file-lmdb-index,dag-file,in-mem}.lock.{queue,permit}
lost timer   rchain.block-storage.{file-lmdb-index,dag-file,in-mem}.lock.acquire
lost gauge   rchain.{casper.running,CasperPacketHandler}.lock.{queue,permit}
lost timer   rchain.{casper.running,CasperPacketHandler}.lock.acquire
"""

WORDS = {
    "COLLECTORS": "ps-scavenge,ps-marksweep",
    "POOLS": "code-cache,compressed-class-space,metaspace,ps-eden-space,ps-old-gen,"
             "ps-survivor-space",
    "STEPS": "block-hash,timestamp,shard-identifier,deploys-shard-identifier,repeat-deploy,"
             "block-number,future-transaction,transaction-expiration,time-based-expiration,"
             "justification-follows,parents,sequence-number,justification-regressions",
    "WIDE_STEPS": "block-summary,checkpoint,bonds-cache,neglected-invalid-block,"
                  "neglected-equivocation,phlo-price,simple-equivocation",
}
JVM_GAUGES = 72

# How RNode's own Prometheus reporter exported some of them; its integration tests and dashboards
# ask for these.
EXPORTED = {
    "rchain.comm.rp.connect.peers": "rchain_comm_rp_connect_peers",
    "rchain.rspace.comm.produce": "rchain_rspace_comm_produce_total",
    "rchain.rspace.comm.produce-time": "rchain_rspace_comm_produce_time_seconds_count",
    "rchain.rholang.reportingRuntime.lock.acquire":
        "rchain_rholang_reportingRuntime_lock_acquire_seconds_sum",
    "rspace.comm.produce": "rspace_comm_produce_total",
    "thread-count-daemon": "thread_count_daemon",
}


def expanded(pattern):
    """a{b,c{d,}} as a shell has it, each once."""
    inner = re.search(r"\{([^{}]*)\}", pattern)
    if not inner:
        return [pattern]
    before, after = pattern[:inner.start()], pattern[inner.end():]
    return list(dict.fromkeys(itertools.chain.from_iterable(
        expanded(before + word + after) for word in inner.group(1).split(","))))


def wanted():
    """name: (status, instrument)"""
    names = {}
    for line in NAMES.split("\n"):
        if line.strip():
            status, instrument, pattern = line.split()
            for word, list_of in WORDS.items():
                pattern = pattern.replace("{" + word + "}", "{" + list_of + "}")
            for name in expanded(pattern):
                if name in names:
                    raise Failure(f"{name} is in the list twice")
                names[name] = (status, instrument)
    return names


def catalogue():
    manifests, problems = load(sorted(FOLDER.glob("*.metrics.yaml")))
    if problems:
        raise Failure("\n".join(str(problem) for problem in problems))
    return {metric.name: metric for manifest in manifests for metric in manifest.metrics}


def active(path):
    manifests, problems = load([path])
    equal(problems, [], "problems")
    return {metric.name for metric in manifests[0].metrics if metric.status == "active"}


def every_name_is_there_as_what_it_is(place):
    found = {name: (metric.status, metric.instrument) for name, metric in catalogue().items()}
    listed = wanted()
    missing = sorted(set(listed) - set(found))
    beyond = sorted(set(found) - set(listed))
    if missing or beyond:
        raise Failure(f"not in the manifests: {missing}\n  not in the list: {beyond}")
    equal({name: found[name] for name in listed if found[name] != listed[name]},
          {name: listed[name] for name in listed if found[name] != listed[name]}, "as what")


def the_virtual_machine_is_whole(place):
    """JvmMetrics set as many gauges with each of its two kinds of names, and Crest's shim has a
    metric in the place of each."""
    names, shim = catalogue(), active(FOLDER.parents[1] / "jvm-shim/jvm.metrics.yaml")
    for prefix in ("rchain.node.diagnostics.jvm.", ""):
        of_it = [name for name, metric in names.items() if metric.manifest.team.startswith("node")
                 and metric.status == "lost" and name.startswith(prefix)
                 and name.startswith("rchain.") == bool(prefix)]
        equal(len(of_it), JVM_GAUGES, f"gauges with prefix {prefix!r}")
        for name in of_it:
            instead = names[name].replaced_by
            if not instead or not set(instead) <= set(shim):
                raise Failure(f"{name} is replaced by {instead}, which Crest does not record")


def what_is_lost_says_since_when(place):
    for name, metric in catalogue().items():
        if metric.status == "lost":
            if not metric.last:
                raise Failure(f"{metric.position}: {name} is lost and does not say when it was "
                              "seen last")
        elif metric.last:
            raise Failure(f"{metric.position}: {name} is not lost and says when it was seen last")


def latencies_say_when_they_start_and_end(place):
    for name, metric in catalogue().items():
        if name.startswith("rchain.") and metric.status == "planned":
            for word in ("starts when", "ends"):
                if word not in metric.meaning:
                    raise Failure(f"{metric.position}: {name} does not say what it {word}")


def names_are_exported_as_rnode_exports_them(place):
    names = catalogue()
    for name, exported in EXPORTED.items():
        found = [one.name for one in exported_names(names[name])]
        if exported not in found:
            raise Failure(f"{name}: {exported} is not in {found}")


def the_list_would_miss_a_name(place):
    """The comparison can fail: a manifest with a name less is told apart."""
    text = (FOLDER / "rholang.metrics.yaml").read_text(encoding="utf-8")
    path = place / "rholang.metrics.yaml"
    path.write_text(text.replace("runtime.lock.acquire", "runtime.lock.aquire"), encoding="utf-8")
    manifests, problems = load([path])
    equal(problems, [], "problems")
    names = {metric.name for metric in manifests[0].metrics}
    listed = {name for name in wanted() if name.startswith("rchain.rholang.")}
    equal(listed - names, {"rchain.rholang.runtime.lock.acquire"}, "missing")
    equal(names - listed, {"rchain.rholang.runtime.lock.aquire"}, "beyond")


toolslib.main([
    every_name_is_there_as_what_it_is, the_virtual_machine_is_whole,
    what_is_lost_says_since_when, latencies_say_when_they_start_and_end,
    names_are_exported_as_rnode_exports_them, the_list_would_miss_a_name])
