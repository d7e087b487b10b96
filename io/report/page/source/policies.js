// Policies side by side over time: a row of figures for each simulation, and their curves on the same axes.
import { h, section } from './elements.js';
import { lineChart } from './chart.js';
import { nameOf } from './simulation.js';
import { count, duration, number, percent } from './format.js';

// What came of each simulation, under the name that its curves have: the summary of the same run, else the figures of
// its events; then the summaries of other runs.
export function outcomesOf(summaries, simulations) {
  const taken = new Set();
  const ofEvents = simulations.map(({ name, policy, cycle, figures }) => {
    const line = { simulation: { policy, cycle }, ...figures }, summary = summaries.find((one) => isSameRun(one.line, line));
    taken.add(summary);
    return { name, line: summary?.line ?? line };
  });
  const others = summaries.filter((summary) => !taken.has(summary));
  return [...ofEvents, ...others.map(({ label, line }) => ({ name: String(line.experiment?.id ?? nameOf(label, line.simulation?.policy)), line }))];
}

// The options of an experiment of `muster simulate --grid`, with those of the command that makes its workload.
function optionsOf({ experiment }) {
  const { id: _, workload, ...options } = experiment ?? {};
  const words = Array.isArray(workload) ? workload : [], made = {};
  words.forEach((word, i) => {
    if (word.startsWith('--')) made[`workload ${word.slice(2)}`] = words[i + 1]?.startsWith('--') ?? true ? 'true' : words[i + 1];
  });
  const source = Array.isArray(workload) ? words.slice(0, 2).filter((word) => !word.startsWith('--')).join(' ') : workload;
  return { workload: source, ...made, ...options };
}

// [[key, the text for each outcome]] of the options in which the experiments differ.
function differingOptions(outcomes) {
  const all = outcomes.map(({ line }) => optionsOf(line)), keys = new Set(all.flatMap(Object.keys));
  return [...keys].map((key) => [key, all.map((options) => (options[key] === undefined ? '–' : String(options[key])))]).filter(([, texts]) => new Set(texts).size > 1);
}

// Sums of floating-point numbers in another order differ in their last digits.
const isNear = (a, b) => a === b || Math.abs(a - b) <= 1e-6 * Math.max(Math.abs(a), Math.abs(b));
const isSameRun = (a, b) => a.simulation?.policy === b.simulation?.policy && a.simulation?.cycle === b.simulation?.cycle
  && a.gangs?.submitted === b.gangs?.submitted && a.gangs?.finished === b.gangs?.finished && isNear(a.gangs?.waiting?.mean, b.gangs?.waiting?.mean);

const bySize = (line, size) => (line.bySize ?? []).find(({ gpus: one }) => one === size);
const evicted = ({ evictions }) => (evictions ? (evictions.preempt ?? 0) + (evictions.reclaim ?? 0) : undefined);

// [head, [[title, value(line), text(value), better: 1 more, -1 less]]]
const waited = (head, of) => [head, [['mean', (line) => of(line)?.waiting?.mean, duration, -1], ['99 % less than', (line) => of(line)?.waiting?.p99, duration, -1]]];
const columnGroups = [
  waited('Waited: all gangs', (line) => line.gangs), waited('8 GPUs and more', (line) => line.large), waited('17 to 32 GPUs', (line) => bySize(line, '<=32')),
  ['Gangs', [['finished', (line) => line.gangs?.finished, count, 1]]],
  ['GPU time in use', [['while jobs arrive', (line) => line.allocation?.whileArriving, (value) => percent(value, 2), 1], ['useful', (line) => line.allocation?.useful, (value) => percent(value, 2), 1]]],
  ['Lost', [['pods evicted', evicted, count, -1], ['GPU hours', (line) => line.lost, (value) => number(value / 3600, 0), -1]]],
  ['Fairness', [['shortfall', (line) => line.fairness?.shortfall, (value) => percent(value, 1), -1], ['Jain', (line) => line.fairness?.jain, (value) => number(value, 3), 1]]]];

export function policiesView(outcomes) {
  const groups = columnGroups.map(([head, columns]) => [head, columns.filter(([, value]) => outcomes.some(({ line }) => Number.isFinite(value(line))))]).filter(([, columns]) => columns.length > 0);
  const columns = groups.flatMap(([, of]) => of).map(([title, value, text, better]) => {
    const values = outcomes.map(({ line }) => value(line)), numbers = values.filter(Number.isFinite);
    return { title, values, text, best: new Set(numbers).size > 1 ? (better > 0 ? Math.max(...numbers) : Math.min(...numbers)) : undefined };
  });
  const cell = ({ values, text, best }, at) => {
    const isBest = values[at] === best && best !== undefined;
    return h('td', { class: `numeric${isBest ? ' is-best' : ''}` }, isBest && h('span', { class: 'best' }, '★', h('span', { class: 'visually-hidden', text: ' best' }), ' '), Number.isFinite(values[at]) ? text(values[at]) : '–');
  };
  const options = differingOptions(outcomes);
  return section('policies', 'Policies side by side', 'A row for each simulation; ★ is the best of a column.',
    h('div', { class: 'wide' }, h('table', { class: 'plain-table comparison', 'aria-label': 'Policies' },
      h('thead', {},
        h('tr', {}, h('th', { scope: 'col', rowspan: 2, text: options.length > 0 ? 'Experiment' : 'Policy' }), options.map(([key]) => h('th', { scope: 'col', rowspan: 2, text: key })), groups.map(([head, of]) => h('th', { scope: 'colgroup', class: 'numeric', colspan: of.length, text: head }))),
        h('tr', {}, columns.map(({ title }) => h('th', { scope: 'col', class: 'numeric', text: title })))),
      h('tbody', {}, outcomes.map(({ name }, at) => h('tr', {}, h('th', { scope: 'row', text: name }), options.map(([, texts]) => h('td', { text: texts[at] })), columns.map((column) => cell(column, at))))))));
}

// Curves of several simulations, on one time line of their own cycles.
export function policyCurves(simulations) {
  const xs = [...new Set(simulations.flatMap(({ cycles }) => cycles.time))].sort((a, b) => a - b);
  const on = (cycles, values) => {
    const at = new Map(cycles.time.map((time, i) => [time, values[i]]));
    return xs.map((time) => at.get(time) ?? null);
  };
  const x = { title: 'time since the start', text: duration };
  const chart = (title, unit, text, key) => lineChart({ title, x, y: { title: unit, text, from: 0 }, xs,
    lines: simulations.map(({ name, cycles }, rank) => ({ title: name, values: on(cycles, cycles[key]), rank: [4, 5, 2, 0, 6, 1, 3][rank % 7], stepped: true })) });
  return section('curves-compared', 'Policies over time', 'All simulations on one line of time, as each plan leaves them.',
    chart('Allocated GPUs', 'GPUs', (value) => number(value, 1), 'allocated'), chart('Waiting gangs', 'gangs', count, 'waitingGangs'), chart('Waiting GPUs', 'GPUs', (value) => number(value, 1), 'waitingGpus'));
}
