// Several plans of one snapshot, or several simulations of one workload, side by side.
import { h, section } from './elements.js';
import { count, duration, gpus, milliseconds, number, percent } from './format.js';
import { figuresOf, levelValue } from './overview.js';
import { levels, proofOf } from './words.js';

// rows: [title, value(thing), text(value), better: 1 more, -1 less, 0 neither, help]
function comparisonTable(label, names, things, rows) {
  const shown = rows.filter(([, value]) => things.some((thing) => Number.isFinite(value(thing)) || typeof value(thing) === 'string'));
  return h('div', { class: 'wide' }, h('table', { class: 'plain-table comparison', 'aria-label': label },
    h('thead', {}, h('tr', {}, h('th', { scope: 'col', text: '' }), names.map((name) => h('th', { scope: 'col', class: 'numeric', text: name })))),
    h('tbody', {}, shown.map(([title, value, text, better, help]) => {
      const values = things.map(value), numbers = values.filter(Number.isFinite);
      const best = better > 0 ? Math.max(...numbers) : Math.min(...numbers), differs = better !== 0 && new Set(numbers).size > 1, span = Math.max(...numbers.map(Math.abs), 1e-12);
      return h('tr', {}, h('th', { scope: 'row', title: help }, title, better !== 0 && h('span', { class: 'muted', text: better > 0 ? ' (more is better)' : ' (less is better)' })),
        values.map((one) => {
          const isBest = differs && one === best;
          return h('td', { class: `numeric${isBest ? ' is-best' : ''}` }, isBest && h('span', { class: 'best', text: '★ best ' }), typeof one === 'string' ? one : Number.isFinite(one) ? text(one) : '–',
            h('span', { class: 'bar', 'aria-hidden': 'true' }, Number.isFinite(one) && h('span', { style: { width: `${(100 * Math.abs(one)) / span}%` } })));
        }));
    }))));
}

export function plansComparison(cluster) {
  const things = cluster.plans.map((plan) => ({ plan, figures: figuresOf(cluster, plan) }));
  const goals = cluster.plans[0].objective.map(({ level, priority }) => {
    const { title, more, scale, unit } = levels[level];
    return [priority === undefined ? title : `${title}, priority ${priority} and above`, ({ plan }) => levelValue(plan.objective, level, priority) / scale, (value) => `${number(value, 2)} ${unit}`, more ? 1 : -1];
  });
  const rows = [
    ['GPUs in use', ({ figures }) => figures.after, (value) => gpus(value), 1], ['Gangs that start', ({ figures }) => figures.starts, count, 0], ['Gangs left waiting', ({ figures }) => figures.waitingGangs, count, 0],
    ...(cluster.plans[0].objective.some(({ level }) => level === 'wholeNodes') ? [] : [['Whole nodes idle', ({ figures }) => figures.wholeNodes, count, 1]]),
    ['Pods evicted', ({ figures }) => figures.evicted, count, 0], ['Pods moved', ({ figures }) => figures.moved, count, 0], ...goals,
    ['Proof', ({ plan }) => proofOf(plan)[0], null, 0], ['Gap of the first goal that is open', ({ plan }) => plan.gap, (value) => percent(value, 3), -1], ['Time taken', ({ plan }) => plan.elapsedMs, milliseconds, 0]];
  return section('comparison', 'Plans side by side', `What differs first, from the top of the goals, decides: ${verdict(cluster)}`, comparisonTable('Plans', cluster.plans.map(({ label }) => label), things, rows));
}

// Which plan is better, by the first goal in which the plans differ.
function verdict(cluster) {
  const { plans } = cluster;
  for (const { level, priority } of plans[0].objective) {
    const values = plans.map((plan) => levelValue(plan.objective, level, priority));
    if (values.every((value) => value === values[0])) continue;
    const best = levels[level].more ? Math.max(...values) : Math.min(...values);
    const names = plans.filter((_, i) => values[i] === best).map(({ label }) => label);
    return `here ${names.join(' and ')}, by “${levels[level].title}${priority === undefined ? '' : `, priority ${priority} and above`}”.`;
  }
  return 'here the plans are equal in all of them.';
}

const hours = (gpuSeconds) => `${number(gpuSeconds / 3600, 0)} GPU hours`;

export function simulationsComparison(outcomes) {
  const things = outcomes.map(({ line }) => line), names = outcomes.map(({ name }) => name);
  const wait = (of, key) => (line) => of(line)?.waiting?.[key], all = (line) => line.gangs, large = (line) => line.large;
  const rows = [
    ['GPUs in use, mean', (line) => line.allocation?.mean, (value) => percent(value, 2), 1, 'GPU time in use, of the GPU time that there was'],
    ['… while work arrives', (line) => line.allocation?.whileArriving, (value) => percent(value, 2), 1], ['… without work that was lost', (line) => line.allocation?.useful, (value) => percent(value, 2), 1],
    ['Free but scattered, mean', (line) => line.fragmentation?.mean, (value) => gpus(value, 1), -1],
    ['Waiting, mean', wait(all, 'mean'), duration, -1], ['Waiting, median', wait(all, 'p50'), duration, -1], ['Waiting, 99 of 100 less than', wait(all, 'p99'), duration, -1],
    ['Waiting of gangs of 8 GPUs and more, mean', wait(large, 'mean'), duration, -1], ['… 99 of 100 less than', wait(large, 'p99'), duration, -1],
    ['Completion, mean', (line) => line.gangs?.completion?.mean, duration, -1], ['Completion, 99 of 100 less than', (line) => line.gangs?.completion?.p99, duration, -1],
    ['Gangs finished', (line) => line.gangs?.finished, count, 1], ['Gangs submitted', (line) => line.gangs?.submitted, count, 0],
    ['Pods preempted', (line) => line.evictions?.preempt, count, -1], ['Pods reclaimed', (line) => line.evictions?.reclaim, count, -1], ['Pods lost to failures', (line) => line.evictions?.failure, count, 0],
    ['Moves', (line) => line.moves, count, -1], ['Work lost', (line) => line.lost, hours, -1], ['Below fair shares, mean', (line) => line.fairness?.shortfall, (value) => percent(value, 2), -1, 'of all GPUs: what queues were below their fair shares'],
    ['Evenness of shares (Jain)', (line) => line.fairness?.jain, (value) => number(value, 3), 1], ['A cycle takes, 99 of 100 less than', (line) => line.cycleMs?.p99, milliseconds, -1]];
  const title = outcomes.length > 1 ? 'All figures of the simulations' : 'What came of it';
  return section('summary', title, 'Waiting counts from submission to the first start; a gang that never started waits until the end.', comparisonTable('Simulations', names, things, rows), sizesTable(names, things));
}

// Waiting by the size of the gang.
function sizesTable(names, things) {
  const sizes = [...new Set(things.flatMap((line) => (line.bySize ?? line.byGangSize ?? []).map(({ gpus: size }) => size)))];
  if (sizes.length === 0) return null;
  const of = (line, size) => (line.bySize ?? line.byGangSize ?? []).find(({ gpus: one }) => one === size);
  const named = (size) => (size === '0' ? 'no GPU' : `${size.replace('<=', 'up to ').replace('<', 'fewer than ')} ${size === '1' ? 'GPU' : 'GPUs'}`);
  const rows = sizes.flatMap((size) => [
    [`${named(size)}: mean wait`, (line) => of(line, size)?.waiting?.mean, duration, -1], [`${named(size)}: 99 of 100 wait less than`, (line) => of(line, size)?.waiting?.p99, duration, -1]]);
  return [h('h3', { class: 'sub', text: 'Waiting by the size of a gang' }), comparisonTable('Waiting by size', names, things, rows)];
}
