// What the plan comes to, in a few figures.
import { h, section } from './elements.js';
import { count, gpus, milliseconds, number, percent, plural } from './format.js';
import { levels, proofOf } from './words.js';
import { placed, moved, evicted, leaves } from './unpack.js';

const roots = (cluster) => cluster.queues.parent.map((parent, i) => [parent, i]).filter(([parent]) => parent < 0).map(([, i]) => i);
const sum = (values) => values.reduce((a, b) => a + b, 0);

// What can be compared of plans: GPUs, pods and gangs.
export function figuresOf(cluster, plan) {
  const before = sum(roots(cluster).map((queue) => cluster.queues.before[queue][0]));
  const figures = { total: cluster.total.gpu, before, wholeNodes: plan?.wholeNodes };
  if (!plan) return figures;
  const changes = [0, 0, 0, 0, 0];
  for (const change of plan.change) ++changes[change];
  const byPhase = {};
  let waitingGpus = 0, waitingGangs = 0;
  plan.gangs.gang.forEach((gang, i) => {
    const phase = plan.gangs.text('phase', i);
    byPhase[phase] = (byPhase[phase] ?? 0) + 1;
    if (plan.gangs.pending[i] === 0) return;
    ++waitingGangs;
    waitingGpus += (cluster.gangs.pendingMicroGpu[gang] / 1e6) * Math.min(1, plan.gangs.pending[i] / Math.max(1, cluster.gangs.pending[gang]));
  });
  return { ...figures, after: sum(roots(cluster).map((queue) => plan.allocated[queue]?.[0] ?? 0)), placed: changes[placed], moved: changes[moved], evicted: changes[evicted],
    leaves: changes[leaves], byPhase, starts: (byPhase.Scheduled ?? 0) + (byPhase.Waiting ?? 0), waitingGangs, waitingGpus };
}

export function levelValue(list, level, priority) {
  return list.find((one) => one.level === level && (priority === undefined || one.priority === priority))?.value;
}

const card = (title, value, detail, extra) =>
  h('div', { class: 'card' }, h('div', { class: 'card-title', text: title }), h('div', { class: 'card-value', text: value }), h('div', { class: 'card-detail', text: detail }), extra);

function allocationBar({ total, before, after }) {
  const width = (value) => `${total > 0 ? Math.min(100, (100 * value) / total) : 0}%`;
  return h('div', { class: 'meter', role: 'img', 'aria-label': `${number(before)} GPUs in use before, ${number(after ?? before)} after, of ${number(total)}` },
    h('span', { class: 'meter-fill', style: { width: width(after ?? before) } }), after !== undefined && h('span', { class: 'meter-mark', title: 'before', style: { left: width(before) } }));
}

export function overview(cluster, plan) {
  const figures = figuresOf(cluster, plan), { total, before, after } = figures;
  const clusterText = `${plural(cluster.nodeCount, 'node')} with ${gpus(total)}, ${plural(cluster.queues.name.length, 'queue')}, ${plural(cluster.gangs.name.length, 'gang')} of ${plural(cluster.podCount, 'pod')}.`;
  if (!plan) {
    return section('overview', 'Overview', `${clusterText} No plan was given, so this is the cluster as it stands.`,
      h('div', { class: 'cards' }, card('GPUs in use', percent(before / total), `${number(before)} of ${gpus(total)}`, allocationBar(figures))));
  }
  const [proofTitle, proofText] = proofOf(plan);
  const proof = plan.proof !== 'optimal' && plan.gap > 0 ? `≤ ${percent(plan.gap, 2)} short` : proofTitle;
  const open = plan.objective.find(({ value, bound }) => bound !== value);
  const gapText = plan.proof === 'optimal' ? proofText
    : plan.gap > 0 && open ? `“${levels[open.level].title}” is at most that far from the best possible.` : proofText;
  const fragmentationBefore = levelValue(cluster.levelsBefore, 'fragmentation'), fragmentation = levelValue(plan.objective, 'fragmentation');
  return section('overview', 'Overview', clusterText, warnings(plan), oddities(plan),
    h('div', { class: 'cards' },
      card('GPUs in use', total > 0 ? percent(after / total) : 'none', `${number(before)} before, ${number(after)} after, of ${gpus(total)}`, allocationBar(figures)),
      card('Gangs that start', count(figures.starts), `${plural(figures.placed, 'pod')} placed${figures.byPhase.Waiting ? `; ${count(figures.byPhase.Waiting)} of the gangs once room is made` : ''}`),
      card('Gangs left waiting', count(figures.waitingGangs), figures.waitingGangs > 0 ? `for ${gpus(figures.waitingGpus, 1)}; see why below` : 'no gang has to wait'),
      card('Disturbed', plural(figures.evicted + figures.moved, 'pod'), figures.evicted + figures.moved === 0 ? 'nothing that runs is touched' : `${count(figures.evicted)} evicted, ${count(figures.moved)} moved and restarted`),
      cluster.wholeNodes.of > 0 && card('Whole nodes idle', count(plan.wholeNodes), `of ${plural(cluster.wholeNodes.of, 'node')}; ${count(cluster.wholeNodes.before)} before`),
      card('Free but scattered', fragmentation === undefined ? '–' : gpus(fragmentation / 1000, 1), `GPUs that the expected work cannot use; ${number(fragmentationBefore / 1000, 1)} before`),
      card('How good', proof, gapText),
      plan.elapsedMs !== undefined && card('Time taken', milliseconds(plan.elapsedMs), `of ${milliseconds(plan.budgetMs)} allowed${plan.deadlineMissed ? ', too late' : ''}; plan by ${plan.origin}`)));
}

// What of the snapshot did not add up.
function oddities(plan) {
  const count = plan.warningCount ?? 0, told = plan.warnings ?? [];
  if (count === 0) return null;
  return h('details', { class: 'warning' }, h('summary', { text: `${plural(count, 'warning')} about the snapshot` }),
    h('ul', {}, told.map(({ object, name, message }) => h('li', { text: `${object} ${name}: ${message}` }))),
    count > told.length && h('p', { text: `and ${plural(count - told.length, 'other')}; the plan line names them` }));
}

function warnings(plan) {
  if (plan.violationCount === 0) return null;
  return h('div', { class: 'warning', role: 'alert' }, h('strong', { text: `This plan breaks ${plural(plan.violationCount, 'rule')}.` }), ' Do not carry it out.',
    h('ul', {}, plan.violations.map(({ rule, subject, message }) => h('li', { text: `${rule}: ${subject}: ${message}` }))));
}

