// Which gangs wait and why, which start or leave: every gang that the plan names, or every gang of the snapshot.
import { h, section, replace, switcher } from './elements.js';
import { Table } from './table.js';
import { count, duration, gpus, number, plural } from './format.js';
import { obstacleText, obstacleTitle, phases, reasonText, reasonTitle, roomText } from './words.js';
import { funnelView, neverText, remedyView } from './why.js';

const starts = new Set(['Scheduled', 'Waiting']), goes = new Set(['Evicted', 'Stale']);

// One item a gang: what the snapshot and the plan say of it.
function itemsOf(cluster, plan) {
  const { gangs, queues } = cluster;
  const item = (gang, claim) => ({ gang, claim, name: gangs.name[gang], queue: gangs.queue[gang] < 0 ? '–' : queues.name[gangs.queue[gang]], priority: gangs.priority[gang],
    waited: gangs.waited[gang], asked: gangs.pendingMicroGpu[gang] / 1e6, pending: claim < 0 ? gangs.pending[gang] : plan.gangs.pending[claim],
    phase: claim < 0 ? (gangs.pending[gang] > 0 ? 'pending' : 'Running') : plan.gangs.text('phase', claim), reason: claim < 0 ? '' : plan.gangs.text('reason', claim),
    startsIn: claim < 0 ? -1 : plan.gangs.startsIn[claim], waitsFor: claim < 0 ? '' : plan.gangs.text('waitsFor', claim), remedy: plan?.remedyOf.get(claim),
    placed: claim < 0 ? 0 : plan.gangs.placed[claim], evicted: claim < 0 ? 0 : plan.gangs.evicted[claim], running: claim < 0 ? gangs.pods[gang] - gangs.pending[gang] : plan.gangs.running[claim] });
  if (plan) return plan.gangs.gang.map((gang, claim) => item(gang, claim));
  return gangs.name.map((_, gang) => item(gang, -1));
}

const startText = (item) => (item.startsIn < 0 ? '' : `in ${duration(item.startsIn)}: ${obstacleTitle(item.waitsFor)}`);
const phaseTitle = (phase) => phases[phase]?.[0] ?? phase;

const plainColumns = [
  { key: 'name', title: 'Gang', width: 'minmax(150px, 2fr)', text: (item) => item.name },
  { key: 'queue', title: 'Queue', width: 'minmax(90px, 1fr)', text: (item) => item.queue },
  { key: 'priority', title: 'Priority', width: '90px', numeric: true, value: (item) => item.priority, text: (item) => String(item.priority) },
  { key: 'phase', title: 'What happens', width: 'minmax(130px, 1.1fr)', text: (item) => phaseTitle(item.phase) },
  { key: 'pending', title: 'Pods left', width: '95px', numeric: true, value: (item) => item.pending, text: (item) => count(item.pending), help: 'pods that have no place after the plan' },
  { key: 'asked', title: 'GPUs asked', width: '110px', numeric: true, value: (item) => item.asked, text: (item) => number(item.asked, 2), help: 'by all its pods that were pending' },
  { key: 'waited', title: 'Waited', width: '110px', numeric: true, value: (item) => item.waited, text: (item) => duration(item.waited) },
  { key: 'reason', title: 'Why', width: 'minmax(150px, 1.5fr)', text: (item) => (item.reason ? reasonTitle(item.reason) : '') },
];
const startColumn = { key: 'starts', title: 'Expected start', width: 'minmax(140px, 1.2fr)', numeric: true, value: (item) => (item.startsIn < 0 ? Infinity : item.startsIn), text: startText,
  help: 'an estimate by the expected ends of what runs, and what it waits for the longest' };
const remedyText = ({ remedy }) => (remedy?.kind === 'never' ? neverText : remedy?.text ?? '');
const remedyColumn = { key: 'remedy', title: 'What would start it', width: 'minmax(160px, 1.5fr)', text: remedyText, help: 'the smallest change that makes the next plan start the gang' };

export function gangsView(cluster, plan, ongang) {
  const all = itemsOf(cluster, plan);
  const groups = { waits: (item) => item.pending > 0, starts: (item) => starts.has(item.phase), goes: (item) => goes.has(item.phase) || item.evicted > 0, all: () => true };
  const titles = { waits: 'Waiting', starts: 'Starting', goes: 'Evicted', all: 'All' };
  const state = { group: all.some(groups.waits) ? 'waits' : 'all', text: '', reason: '' };
  const detail = h('div', { class: 'gang-detail', 'aria-live': 'polite' });
  const columns = [...plainColumns, ...(all.some((item) => item.startsIn >= 0) ? [startColumn] : []), ...(all.some((item) => item.remedy) ? [remedyColumn] : [])];
  const table = new Table(columns, { label: 'Gangs', emptyText: 'No gang matches.', onopen: (item) => tell(cluster, plan, item, detail, ongang) });
  const reasons = h('div', { class: 'chips', role: 'group', 'aria-label': 'Reasons' });
  const draw = () => {
    const text = state.text.trim().toLowerCase(), inGroup = all.filter(groups[state.group]);
    drawReasons(reasons, inGroup, state, draw);
    const matches = (item) => text === '' || `${item.name}\n${item.queue}\n${item.reason}\n${reasonTitle(item.reason)}`.toLowerCase().includes(text);
    table.show(inGroup.filter((item) => (state.reason === '' || item.reason === state.reason) && matches(item)), all.length);
  };
  const search = h('input', { type: 'search', 'aria-label': 'Search gangs', placeholder: 'Search gang, queue or reason', oninput: () => {
    state.text = search.value;
    draw();
  } });
  const choice = switcher('Which gangs', Object.keys(groups).map((key) => [key, `${titles[key]} ${count(all.filter(groups[key]).length)}`]), (group) => {
    Object.assign(state, { group, reason: '' });
    draw();
  }, state.group);
  table.sort = { at: 6, descending: true };
  draw();
  return section('gangs', 'Gangs: which wait, and why', 'A gang starts with all the pods that it needs, or not at all. Choose a row to read what stands in its way.',
    h('div', { class: 'controls' }, choice.element, search), reasons, table.element, detail);
}

function drawReasons(host, items, state, draw) {
  const tally = new Map();
  for (const { reason } of items) if (reason) tally.set(reason, (tally.get(reason) ?? 0) + 1);
  const most = Math.max(1, ...tally.values());
  replace(host, [...tally].sort((a, b) => b[1] - a[1]).map(([reason, gangs]) =>
    h('button', { type: 'button', class: 'chip', 'data-reason': reason, title: reasonText(reason), 'aria-pressed': String(state.reason === reason), onclick: () => {
      state.reason = state.reason === reason ? '' : reason;
      draw();
    } }, h('span', { class: 'chip-bar', style: { width: `${(100 * gangs) / most}%` } }), h('span', { class: 'chip-text' }, reasonTitle(reason), ' ', h('strong', { text: count(gangs) })))));
}

function tell(cluster, plan, item, host, ongang) {
  const { claim } = item;
  const message = claim < 0 ? '' : plan.gangs.text('message', claim), room = claim < 0 ? '' : plan.gangs.text('makeRoom', claim);
  replace(host, h('div', { class: 'detail-card' },
    h('h3', { text: item.name }),
    h('p', {}, h('strong', { text: phaseTitle(item.phase) }), phases[item.phase] ? ` – ${phases[item.phase][1]}` : ''),
    h('p', { class: 'muted', text: `Queue ${item.queue}, priority ${item.priority}; ${plural(item.running, 'pod')} running, ${count(item.placed)} placed now, ${count(item.evicted)} evicted, ${count(item.pending)} left over; asks for ${gpus(item.asked)}, has waited ${duration(item.waited)}.` }),
    item.reason && h('p', {}, h('strong', { text: reasonTitle(item.reason) }), ` (${item.reason}). ${reasonText(item.reason)}`),
    room && h('p', {}, h('strong', { text: 'Why no room is made: ' }), `${roomText(room)} (${room})`),
    item.startsIn >= 0 && h('p', {}, h('strong', { text: `Expected to start in ${duration(item.startsIn)}.` }), ` It waits the longest for this (${item.waitsFor}): ${obstacleText(item.waitsFor)}`),
    message && h('p', { class: 'message', text: message }),
    claim >= 0 && funnelView(plan.gangs.text('blockers', claim), cluster.nodeCount),
    (item.remedy || item.phase === 'Unschedulable') && remedyView(item.remedy, plan.remedyOf.size > 0),
    ongang && h('button', { type: 'button', onclick: () => ongang(item.name) }, 'Show on the map')));
}
