// The codes of a plan in words for readers that know Kubernetes but not optimisation.

const reasons = {
  SchedulingTimeout: ['Waited too long', 'It has waited for its timeout and is no longer planned.'],
  Held: ['Not planned', 'Its pods use something that Muster does not plan; the message says what.'],
  Gated: ['Gated', 'Its pods have a scheduling gate that is still closed.'],
  NotEnoughPods: ['Too few pods', 'Fewer of its pods exist than it needs to start.'],
  UnknownQueue: ['Unknown queue', 'Its queue does not exist, or has queues below it.'],
  Reserved: ['Kept for another gang', 'A larger gang waits for quota or for nodes; what would hold up its start is kept back.'],
  LimitExceeded: ['Over its queue’s limit', 'Its queue, or one above, would use more than its limit.'],
  NonPreemptibleOverQuota: ['Over quota, not preemptible', 'Work that may not be preempted has to stay within the quota of its queue.'],
  NeverFits: ['Larger than any node', 'It would not fit even if every node were empty and took every pod.'],
  NodeMismatch: ['No suitable node', 'Selectors, affinity, taints, GPU models and cordons leave no nodes on which it fits, even empty ones.'],
  InsufficientGpu: ['Too few free GPUs', 'The nodes that it may use have too few free GPUs in total.'],
  InsufficientCpu: ['Too little free CPU', 'The nodes that it may use have too few free cores in total.'],
  InsufficientMemory: ['Too little free memory', 'The nodes that it may use have too little free memory in total.'],
  TopologyUnsatisfied: ['No single domain has room', 'It would fit, but not within one domain of the topology that it requires.'],
  Fragmented: ['Free, but fragmented', 'Enough is free in total, but not together where it is needed.'],
  PodAffinity: ['Pod affinity not satisfied', 'It would fit, but pods that it must be near or apart from leave no nodes.'],
  TopologySpread: ['Spread constraints', 'It would fit, but its topology spread constraints leave no nodes.'],
  InsufficientHostPorts: ['Host ports taken', 'Too few of the nodes that it may use have its host ports free.'],
  Undecided: ['Undetermined', 'It may fit: the objective prefers a plan without it, or the engine found no placement.'],
  OutOfTime: ['Undetermined: out of time', 'It may fit: the time budget ran out first.'],
  Preempted: ['Preempted', 'It makes room for gangs of higher priority in its queue.'],
  Reclaimed: ['Reclaimed', 'It makes room for gangs of queues that are below their share.'],
  Stale: ['Below its minimum', 'It has run below its minimum for longer than its grace period.'],
};

const rooms = {
  NotAllowed: 'The policy does not allow the evictions that would make room.',
  Policy: 'Its preemption policy is Never: nothing is evicted for it.',
  NotEnough: 'Even evicting every pod that may be evicted would not make enough room.',
  FairShare: 'Room could only come from queues within their fair share, or its own queue would exceed its share.',
  NoShares: 'Room could only come from other queues, but shares of what it lacks are not counted: only gpu, cpu and memory have them.',
  Priority: 'Room could only come from gangs of equal or higher priority.',
  Protected: 'Room could only come from pods within their minimum run time.',
  DisruptionBudget: 'Room would require evicting pods that disruption budgets or the policy protect.',
  Outranked: 'Room could be made, but the plan is better without that.',
  Undecided: 'Undetermined whether evictions could make room.',
  OutOfTime: 'The time budget ran out before room was found.',
};

export const reasonTitle = (code) => reasons[code]?.[0] ?? (code.startsWith('Insufficient') ? `Too little ${code.slice(12)}` : code);
export const reasonText = (code) =>
  reasons[code]?.[1] ?? (code.startsWith('Insufficient') ? `The nodes that it may use have too little ${code.slice(12)} in total.` : '');
export const roomText = (code) => rooms[code] ?? '';

// What a gang that is expected to start later waits for the longest.
const obstacles = {
  Quota: ['quota', 'room in the quota of its queue, or of one above.'],
  Limit: ['limit', 'room within the limit of its queue, or of one above.'],
  Nodes: ['nodes', 'nodes that are empty enough for its large pods.'],
  Devices: ['devices', 'free GPUs on nodes.'],
  Resources: ['CPU or memory', 'free cores or memory.'],
  Reserved: ['kept for another gang', 'the start of a gang that it would hold up.'],
  Other: ['other rules', 'there is room by plain counts; another rule or the objective is against it.'],
};
export const obstacleTitle = (code) => obstacles[code]?.[0] ?? code;
export const obstacleText = (code) => obstacles[code]?.[1] ?? '';

export const phases = {
  Running: ['Runs', 'Its minimum was running already and still is.'],
  Scheduled: ['Starts now', 'This plan places its minimum.'],
  Waiting: ['Starts when room is made', 'It is placed, but other pods must leave first.'],
  Evicted: ['Evicted', 'All of its running pods are evicted.'],
  Unschedulable: ['Waits', 'It cannot be placed now.'],
  TimedOut: ['Timed out', 'It has waited too long and is no longer planned.'],
  Stale: ['Evicted as stale', 'It ran below its minimum for too long.'],
  Gated: ['Gated', 'A scheduling gate of its pods is still closed.'],
  Held: ['Not planned', 'It uses something that Muster does not plan.'],
};

export const evictionWords = {
  preempt: 'preempted for a gang of higher priority in the same queue',
  reclaim: 'reclaimed for a queue that is below its share',
  consolidate: 'moved to make room, and restarted',
  stale: 'evicted as stale',
};

export const changeWords = ['stays', 'placed now', 'moved', 'evicted', 'being deleted'];

const blockers = {
  Unschedulable: 'cordoned', UntoleratedTaint: 'taint not tolerated', NodeSelector: 'selector does not match',
  NodeAffinity: 'affinity does not match', VolumeNodeAffinity: 'its volumes cannot be attached', PodAntiAffinity: 'anti-affinity excludes it', PodAffinity: 'no pod that its affinity requires',
  TopologySpread: 'spread constraint is not met', HostPorts: 'host ports taken', GpuModel: 'other GPU model', Reserved: 'held for another gang',
  InsufficientGpu: 'too few free GPUs', InsufficientCpu: 'too little free CPU', InsufficientMemory: 'too little free memory',
  InsufficientPods: 'no more pods allowed', Topology: 'outside of the topology', Available: 'could take its next pod',
};
export const blockerText = (code) => blockers[code] ?? (code.startsWith('Insufficient') ? `too little ${code.slice(12)}` : code);

// Goals in their order. `unit`: how a value is read.
export const levels = {
  share: { title: 'Work within fair shares', text: 'GPUs’ worth of work that runs within the fair shares of the queues', more: true, scale: 1000, unit: 'GPUs' },
  quota: { title: 'Work within quotas', text: 'GPUs’ worth of work that runs within the quotas', more: true, scale: 1000, unit: 'GPUs' },
  work: { title: 'All work', text: 'GPUs’ worth of work that runs, wherever it belongs', more: true, scale: 1000, unit: 'GPUs' },
  evicted: { title: 'Work lost by evictions', text: 'GPU time that must be repeated', more: false, scale: 3600000, unit: 'GPU hours' },
  moved: { title: 'Work moved', text: 'GPUs’ worth of running work that changes its place', more: false, scale: 1000, unit: 'GPUs' },
  seniority: { title: 'Oldest first', text: 'waiting time of what is placed, times its GPUs', more: true, scale: 3600000, unit: 'GPU hours' },
  wholeNodes: { title: 'Whole nodes idle', text: 'GPU nodes that nothing uses, so that a job of a whole node can start', more: true, scale: 1, unit: 'nodes' },
  wholeDomains: { title: 'Whole domains idle', text: 'domains of the topology of which all such nodes are idle', more: true, scale: 1, unit: 'domains' },
  gangNodes: { title: 'Gangs in few nodes', text: 'nodes beyond the first, of gangs that are placed', more: false, scale: 1, unit: 'nodes' },
  gangDomains: { title: 'Gangs in few domains', text: 'domains of the topology beyond the first, of gangs that are placed', more: false, scale: 1, unit: 'domains' },
  gangModels: { title: 'Gangs on one GPU model', text: 'GPU models beyond the first, of gangs that are placed', more: false, scale: 1, unit: 'models' },
  cpuOnGpuNodes: { title: 'CPU pods off GPU nodes', text: 'pods without GPUs that are placed on nodes with GPUs, though others would do', more: false, scale: 1, unit: 'pods' },
  preference: { title: 'Preferences met', text: 'preferred nodes, topology and pod affinity', more: true, scale: 1000, unit: 'points' },
  fragmentation: { title: 'Scattered free GPUs', text: 'free GPUs that the expected work cannot use (policy spread: unevenness of use)', more: false, scale: 1000, unit: 'GPUs' },
};

// Title and text of what is proven of a plan.
export const proofOf = (plan) => {
  const [title, text] = proofs[plan.proof];
  return plan.proofOf ? [`${title} of what was read`, `${text} Some keys of the cluster’s objects are not read; see the warnings.`] : [title, text];
};

const proofs = {
  optimal: ['Proven best', 'No plan can be better by the rules and goals.'],
  withinGap: ['Near the best', 'Within the requested gap of the best possible plan.'],
  heuristic: ['Not proven', 'A good plan; whether a better one exists is not proven for every goal.'],
};
