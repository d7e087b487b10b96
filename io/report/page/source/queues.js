// What each queue has before and after, beside its fair share, quota and limit.
import { h, section, replace, switcher, empty } from './elements.js';
import { paintSwatch } from './colours.js';
import { bytes, number } from './format.js';

const resources = {
  gpu: { at: 0, title: 'GPU', text: (value) => `${number(value, 2)}` },
  cpu: { at: 1, title: 'CPU', text: (value) => `${number(value / 1000, 1)}` },
  memory: { at: 2, title: 'Memory', text: bytes },
};
const units = { gpu: 'GPUs', cpu: 'cores', memory: '' };

// Queues with those above them first: [queue, depth].
function forest({ queues, isLeaf }) {
  const children = queues.name.map(() => []), roots = [], order = [];
  queues.parent.forEach((parent, queue) => (parent < 0 ? roots : children[parent]).push(queue));
  const walk = (queue, depth) => {
    order.push([queue, depth]);
    children[queue].forEach((child) => walk(child, depth + 1));
  };
  roots.forEach((queue) => walk(queue, 0));
  return order.map(([queue, depth]) => ({ queue, depth, leaf: isLeaf(queue) }));
}

export function queuesView(cluster, plan, onqueue) {
  const body = h('div', { class: 'queue-table', role: 'table', 'aria-label': 'Queues' });
  const draw = (key) => replace(body, heads(key), forest(cluster).map((row) => queueRow(cluster, plan, key, row, onqueue)), legend(plan));
  const choice = switcher('Resource', Object.entries(resources).map(([key, { title }]) => [key, title]), draw, 'gpu');
  draw('gpu');
  return section('queues', 'Queues and fair shares', 'A queue’s fair share is what it may have while others want more, too. What one leaves unused, others may borrow, and give back when it is reclaimed.',
    h('div', { class: 'controls' }, choice.element), cluster.queues.name.length > 0 ? body : empty('There are no queues.'));
}

const heads = (key) => h('div', { role: 'row', class: 'queue-row queue-head' },
  ['Queue', '', `Before ${units[key] && `(${units[key]})`}`, 'After', 'Fair share', 'Quota'].map((text, i) => h('div', { role: 'columnheader', class: i > 1 ? 'numeric' : '', text })));

function queueRow(cluster, plan, key, { queue, depth, leaf }, onqueue) {
  const { queues } = cluster, { at, text } = resources[key];
  const before = queues.before[queue][at], after = plan?.allocated[queue]?.[at], share = queues.fairShare[queue][at], quota = queues.quota[queue][at], limit = queues.limit[queue][at];
  const most = scaleOf(cluster, plan, at), width = (value) => `${Math.min(100, (100 * value) / most)}%`;
  const rank = cluster.rankOf[queue], swatch = h('canvas', { class: 'swatch', 'aria-hidden': 'true' });
  if (leaf) paintSwatch(swatch, rank, String(rank + 1));
  const over = (after ?? before) - share;
  const words = over > 1e-6 ? `${text(over)} above its fair share` : over < -1e-6 ? `${text(-over)} below its fair share` : 'at its fair share';
  const bar = h('div', { class: 'share-bar', role: 'img', title: words, 'aria-label': `${queues.name[queue]}: ${words}` },
    h('span', { class: `share-fill${leaf ? '' : ' is-inner'}`, style: { width: width(after ?? before) } }, h('span', { class: 'share-paint' })),
    plan && h('span', { class: 'share-before', title: `before: ${text(before)}`, style: { left: width(before) } }),
    h('span', { class: 'share-mark', title: `fair share: ${text(share)}`, style: { left: width(share) } }),
    quota !== null && h('span', { class: 'share-quota', title: `quota: ${text(quota)}`, style: { left: width(quota) } }));
  if (leaf) bar.firstChild.firstChild.style.background = `var(--queue-${rank % 7})`;
  return h('div', { role: 'row', class: 'queue-row' },
    h('div', { role: 'cell', class: 'queue-name', style: { 'padding-left': `${depth * 18}px` } }, leaf && swatch,
      leaf && onqueue ? h('button', { type: 'button', class: 'link', title: 'Show on the map', onclick: () => onqueue(queue) }, queues.name[queue]) : h('span', { text: queues.name[queue] })),
    h('div', { role: 'cell' }, bar),
    [text(before), after === undefined ? '–' : text(after), text(share), quota === null ? 'unlimited' : `${text(quota)}${limit === null ? '' : ` (limit ${text(limit)})`}`].map((value) => h('div', { role: 'cell', class: 'numeric', text: value })));
}

function scaleOf(cluster, plan, at) {
  const { queues } = cluster, total = [cluster.total.gpu, cluster.total.cpu, cluster.total.memory][at];
  const values = queues.name.flatMap((_, queue) => [queues.before[queue][at], plan?.allocated[queue]?.[at] ?? 0, queues.fairShare[queue][at], Math.min(queues.quota[queue][at] ?? 0, total)]);
  return Math.max(1e-9, ...values) * 1.02;
}

const legend = (plan) => h('p', { class: 'hint share-legend' }, h('span', { class: 'key-share' }), plan ? 'bar: what it has after the plan' : 'bar: what it has',
  plan && [h('span', { class: 'key-before' }), 'dotted: before'], h('span', { class: 'key-mark' }), 'line: fair share', h('span', { class: 'key-quota' }), 'triangle: quota');
