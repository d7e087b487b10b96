// From the columns of the data block to tables that the views ask. Everything refers to everything by position.

export function unpackNames({ shared, rest }) {
  const names = new Array(rest.length);
  let before = '';
  for (let i = 0; i < rest.length; ++i) names[i] = before = before.slice(0, shared[i]) + rest[i];
  return names;
}

export const wholeDevice = 1e6;
export const evictionReasons = ['preempt', 'reclaim', 'consolidate', 'stale'];

// What stands on each device, as one list: the users of device d of node n are those from start[base[n] + d] to
// start[base[n] + d + 1].
class Occupancy {
  constructor(cluster, uses) {  // uses(visit): calls visit(pod, node, device, share) for each, twice
    const { deviceBase } = cluster;
    const devices = deviceBase[deviceBase.length - 1];
    this.start = new Uint32Array(devices + 1);
    uses((pod, node, device) => ++this.start[deviceBase[node] + device + 1]);
    for (let i = 0; i < devices; ++i) this.start[i + 1] += this.start[i];
    const at = this.start.slice();
    this.pod = new Uint32Array(this.start[devices]);
    this.share = new Float32Array(this.start[devices]);
    uses((pod, node, device, share) => {
      const place = at[deviceBase[node] + device]++;
      this.pod[place] = pod;
      this.share[place] = share / wholeDevice;
    });
  }
}

// Pods of each node, by the same scheme.
function podsByNode(nodeCount, pairs) {
  const start = new Uint32Array(nodeCount + 1);
  pairs((pod, node) => ++start[node + 1]);
  for (let i = 0; i < nodeCount; ++i) start[i + 1] += start[i];
  const at = start.slice();
  const pod = new Uint32Array(start[nodeCount]);
  pairs((one, node) => {
    pod[at[node]++] = one;
  });
  return { start, pod };
}

export const kept = 0, placed = 1, moved = 2, evicted = 3, leaves = 4;  // what becomes of a pod

function unpackPlan(cluster, data) {
  const { pods } = cluster;
  const podCount = pods.name.length;
  const plan = { ...data, change: new Uint8Array(podCount), node: Int32Array.from(pods.node), forGang: new Int32Array(podCount).fill(-1),
    reason: new Int8Array(podCount).fill(-1), waits: new Uint8Array(podCount) };
  const deviceStart = Uint32Array.from(pods.deviceStart.subarray(0, podCount));
  const devices = data.placements.devices;
  const fromPlan = new Uint8Array(podCount);
  for (let pod = 0; pod < podCount; ++pod) {
    if (!pods.releasing[pod]) continue;
    plan.change[pod] = leaves;
    plan.node[pod] = -1;
  }
  data.evictions.pod.forEach((pod, i) => {
    plan.change[pod] = evicted;
    plan.node[pod] = -1;
    plan.reason[pod] = data.evictions.reason[i];
    plan.forGang[pod] = data.evictions.for[i];
  });
  let next = 0;
  data.placements.pod.forEach((pod, i) => {
    plan.change[pod] = plan.change[pod] === evicted ? moved : placed;
    plan.node[pod] = data.placements.node[i];
    plan.waits[pod] = data.placements.waits[i];
    fromPlan[pod] = 1;
    deviceStart[pod] = next;
    next += cluster.requests[pods.request[pod]].gpus;
  });
  plan.devicesOf = (pod) => {
    const from = deviceStart[pod], length = cluster.requests[pods.request[pod]].gpus;
    return (fromPlan[pod] ? devices : pods.devices).slice(from, from + length);
  };
  plan.occupancy = new Occupancy(cluster, (visit) => {
    for (let pod = 0; pod < podCount; ++pod) {
      if (plan.node[pod] < 0) continue;
      const list = fromPlan[pod] ? devices : pods.devices;
      const length = cluster.requests[pods.request[pod]].gpus, share = cluster.shareOn(pod, plan.node[pod]);
      for (let i = 0; i < length; ++i) visit(pod, plan.node[pod], list[deviceStart[pod] + i], share);
    }
  });
  plan.podsByNode = podsByNode(cluster.nodeCount, (visit) => {
    for (let pod = 0; pod < podCount; ++pod) if (plan.node[pod] >= 0) visit(pod, plan.node[pod]);
  });
  plan.gangs.text = (key, i) => data.gangs.texts[data.gangs[key][i]];
  const { remedies } = data;
  plan.remedyOf = new Map(remedies.row.map((row, i) => [row, { kind: remedies.texts[remedies.kind[i]], text: remedies.texts[remedies.text[i]],
    options: remedies.texts[remedies.options[i]], smallest: remedies.smallest[i] === 1 }]));
  plan.claimOf = new Map(data.gangs.gang.map((gang, i) => [gang, i]));
  return plan;
}

export function unpackCluster(data) {
  const cluster = { ...data };
  cluster.nodeName = unpackNames(data.nodes.name);
  cluster.nodeCount = cluster.nodeName.length;
  cluster.nodeKind = Int32Array.from(data.nodes.kind);
  cluster.kindOf = (node) => data.kinds[cluster.nodeKind[node]];
  cluster.deviceBase = new Uint32Array(cluster.nodeCount + 1);
  for (let node = 0; node < cluster.nodeCount; ++node) {
    cluster.deviceBase[node + 1] = cluster.deviceBase[node] + cluster.kindOf(node).gpus;
  }
  cluster.deviceCount = cluster.deviceBase[cluster.nodeCount];
  cluster.gangs = { ...data.gangs, name: unpackNames(data.gangs.name) };
  const podCount = data.pods.gang.length;
  const deviceStart = new Uint32Array(podCount + 1);
  for (let pod = 0; pod < podCount; ++pod) {
    const runs = data.pods.node[pod] >= 0;
    deviceStart[pod + 1] = deviceStart[pod] + (runs ? data.requests[data.pods.request[pod]].gpus : 0);
  }
  cluster.pods = { ...data.pods, name: unpackNames(data.pods.name), deviceStart };
  const { pods, requests } = cluster;
  cluster.shareOn = (pod, node) => {
    const { share, mib } = requests[pods.request[pod]];
    if (mib !== undefined) return Math.round((mib * wholeDevice) / cluster.kindOf(node).gpuMib);
    return share ?? wholeDevice;
  };
  cluster.queueOf = (pod) => cluster.gangs.queue[pods.gang[pod]];
  cluster.before = {
    devicesOf: (pod) => (pods.node[pod] < 0 ? [] : pods.devices.slice(deviceStart[pod], deviceStart[pod + 1])),
    occupancy: new Occupancy(cluster, (visit) => {
      for (let pod = 0; pod < podCount; ++pod) {
        const node = pods.node[pod];
        if (node < 0) continue;
        const share = cluster.shareOn(pod, node);
        for (let at = deviceStart[pod]; at < deviceStart[pod + 1]; ++at) visit(pod, node, pods.devices[at], share);
      }
    }),
    podsByNode: podsByNode(cluster.nodeCount, (visit) => {
      for (let pod = 0; pod < podCount; ++pod) if (pods.node[pod] >= 0) visit(pod, pods.node[pod]);
    }),
  };
  cluster.plans = data.plans.map((plan) => unpackPlan(cluster, plan));
  rankQueues(cluster);
  return cluster;
}

// Leaf queues by the GPUs that they use, most first: the order of colours.
function rankQueues(cluster) {
  const { queues } = cluster;
  const isInner = new Set(queues.parent.filter((parent) => parent >= 0));
  cluster.isLeaf = (queue) => !isInner.has(queue);
  const weight = (queue) => Math.max(queues.before[queue][0], ...cluster.plans.map((plan) => plan.allocated[queue]?.[0] ?? 0));
  const leaves = queues.name.map((_, i) => i).filter(cluster.isLeaf);
  leaves.sort((a, b) => weight(b) - weight(a) || a - b);
  cluster.leafQueues = leaves;
  cluster.rankOf = new Int32Array(queues.name.length).fill(-1);
  leaves.forEach((queue, rank) => {
    cluster.rankOf[queue] = rank;
  });
}
