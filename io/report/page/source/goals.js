// The goals in their order, what the plan reaches and what is proven possible.
import { h, section } from './elements.js';
import { number, percent } from './format.js';
import { levels } from './words.js';

const scaled = (level, value) => value / levels[level].scale;
const shown = (level, value) => `${number(scaled(level, value), Math.abs(scaled(level, value)) < 10 ? 2 : 1)} ${levels[level].unit}`;

export function goalsView(cluster, plan) {
  const rows = plan.objective.map((one) => {
    const { title, text } = levels[one.level];
    const before = cluster.levelsBefore.find(({ level, priority }) => level === one.level && priority === one.priority)?.value;
    const isBest = one.bound === one.value, short = one.bound === undefined ? undefined : Math.abs(one.bound - one.value) / Math.max(1, Math.abs(one.bound));
    const state = isBest ? 'proven best' : short === undefined ? 'not proven' : `at most ${percent(short, 2)} short`;
    return h('tr', { class: isBest ? '' : 'is-open' },
      h('th', { scope: 'row', title: text }, title, one.priority !== undefined && h('span', { class: 'muted', text: `, priority ${one.priority} and above` })),
      h('td', { class: 'numeric', text: before === undefined ? '–' : shown(one.level, before) }), h('td', { class: 'numeric', text: shown(one.level, one.value) }),
      h('td', { class: 'numeric', text: one.bound === undefined ? '–' : shown(one.level, one.bound) }),
      h('td', {}, h('span', { class: `badge ${isBest ? 'good' : short === undefined ? '' : 'near'}` }, h('span', { 'aria-hidden': 'true', text: isBest ? '✓ ' : '' }), state)));
  });
  return section('goals', 'Goals, in their order', 'Plans are compared goal by goal: a later goal never outweighs an earlier one. “Best possible” is a proven limit that no plan can pass, given the goals before.',
    h('div', { class: 'wide' }, h('table', { class: 'plain-table' },
      h('thead', {}, h('tr', {}, ['Goal', 'Doing nothing', 'This plan', 'Best possible', 'Proof'].map((text, i) => h('th', { scope: 'col', class: i > 0 && i < 4 ? 'numeric' : '', text })))), h('tbody', {}, rows))));
}
