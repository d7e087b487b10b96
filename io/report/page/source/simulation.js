// A simulation over time: what was in use, what waited, what each queue had beside its fair share, and what was disturbed.
import { h, section, select, field, replace } from './elements.js';
import { lineChart } from './chart.js';
import { unpackNames } from './unpack.js';
import { count, duration, instant, isDate, number, percent } from './format.js';
import { Gantt } from './gantt.js';

export const nameOf = (label, policy) => (policy && policy !== label ? `${label} (${policy})` : label);

export function unpackSimulation(data) {
  const gangs = { ...data.gangs, name: unpackNames(data.gangs.name) };
  const runs = { ...data.runs, how: (i) => data.runs.texts[data.runs.end[i]] };
  return { ...data, gangs, runs, name: nameOf(data.label, data.policy) };
}

// How instants of the simulation are read: as dates where they are, else as time since the start.
const clockOf = ({ start }) => (seconds) => (isDate(start) ? instant(start + seconds).slice(5, 16) : duration(seconds));
const shares = (cycles, of) => cycles.time.map((_, i) => (cycles.capacity[i] > 0 ? of(i) / cycles.capacity[i] : null));

export function curvesView(simulation) {
  const { cycles } = simulation, x = { title: isDate(simulation.start) ? 'time (UTC)' : 'time since the start', text: clockOf(simulation) };
  const gpus = { title: 'GPUs', text: (value) => number(value, 1), from: 0 }, whole = { title: 'share of the GPUs', text: (value) => percent(value, 1), from: 0, to: 1 };
  const hasFragmentation = cycles.fragmentation.some((value) => value >= 0);
  const every = cycles.every > 1 ? ` Every ${cycles.every}th cycle is drawn.` : '';
  const queueHost = h('div');
  const showQueue = (at) => {
    const { name, fairShare, allocated } = cycles.queues[at];
    replace(queueHost, lineChart({ title: `Queue ${name}: GPUs in use beside its fair share`, x, y: gpus, xs: cycles.time,
      lines: [{ title: 'in use', values: allocated, rank: 1, stepped: true, dash: [] }, { title: 'fair share', values: fairShare, rank: 5, stepped: true, dash: [8, 4] }] }));
  };
  const leaves = cycles.queues.map(({ name, allocated }, at) => [at, name, Math.max(0, ...allocated)]).filter(([, , most]) => most > 0);
  const chooser = leaves.length > 1 && h('div', { class: 'controls' }, field('Queue', select(leaves.map(([at, name]) => [String(at), name]), (at) => showQueue(Number(at)))));
  const view = section('curves', 'Over time', `What the cluster looked like after each of ${count(cycles.time.length)} cycles of planning.${every}`,
    lineChart({ title: 'GPUs in use, and free but scattered', x, y: whole, xs: cycles.time, lines: [
      { title: 'in use', values: shares(cycles, (i) => cycles.allocated[i]), rank: 4, stepped: true, dash: [] },
      ...(hasFragmentation ? [{ title: 'free but scattered', values: shares(cycles, (i) => cycles.fragmentation[i]), rank: 5, stepped: true, dash: [2, 3] }] : [])] }),
    lineChart({ title: 'What waits', x, y: gpus, xs: cycles.time, height: 200, lines: [{ title: 'GPUs asked for in vain', values: cycles.waitingGpus, rank: 5, stepped: true, dash: [] },
      { title: 'gangs waiting', values: cycles.waitingGangs, rank: 2, stepped: true, dash: [8, 4] }] }),
    chooser, queueHost,
    lineChart({ title: 'Pods disturbed', x, y: { title: 'pods', text: count, from: 0 }, xs: cycles.time, height: 180, lines: [{ title: 'evicted', values: cycles.evicted, rank: 5, dash: [] }, { title: 'moved', values: cycles.moved, rank: 1, dash: [8, 4] }] }));
  if (leaves.length > 0) showQueue(leaves[0][0]);
  return view;
}

export function ganttView(simulation) {
  const gantt = new Gantt(simulation, clockOf(simulation));
  return { gantt, view: section('gantt', 'What ran when', 'One row a gang: thin while it waits, a bar while it runs, in the colour and pattern of its queue; a cross where it was interrupted or dropped.', gantt.element) };
}
