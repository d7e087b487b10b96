// Why a gang waits, and what would start it: from all nodes to those that take its next pod, and its remedy.
import { h } from './elements.js';
import { count, percent } from './format.js';
import { blockerText } from './words.js';

const available = 'Available';

// "3 InsufficientGpu" lines as steps from all nodes to those that are left. Each node counts once, so the steps add up
// to all nodes of the cluster; nodes that the plan does not account for are a step of their own.
function stepsOf(text, nodeCount) {
  const charges = text.split('\n').map((line) => [line.slice(line.indexOf(' ') + 1), Number(line.slice(0, line.indexOf(' ')))]);
  const charged = charges.reduce((sum, [, nodes]) => sum + nodes, 0), total = Math.max(charged, nodeCount);
  const cuts = charges.filter(([code]) => code !== available).map(([code, nodes]) => [blockerText(code), nodes]);
  if (charged < total) cuts.push(['not stated in the plan', total - charged]);
  let left = total;
  const steps = cuts.map(([title, nodes]) => ({ title: `− ${title}`, nodes, left: (left -= nodes) }));
  return { total, left, steps };
}

// The table of them, with a bar for each: what is left after it, and before that what it takes away.
export function funnelView(text, nodeCount) {
  if (!text) return null;
  const { total, left, steps } = stepsOf(text, nodeCount);
  const width = (nodes) => ({ width: `${(100 * nodes) / Math.max(1, total)}%` });
  const row = (title, nodes, kept, cut) => h('tr', { 'data-nodes': String(nodes) }, h('th', { scope: 'row', text: title }),
    h('td', {}, h('span', { class: 'funnel-bar', 'aria-hidden': 'true' }, h('span', { class: 'funnel-left', style: width(kept) }), h('span', { class: 'funnel-cut', style: width(cut) }))),
    h('td', { class: 'numeric', text: count(nodes) }), h('td', { class: 'numeric muted', text: percent(nodes / total, 0) }));
  return h('table', { class: 'funnel' }, h('caption', { text: 'Nodes for its next pod' }),
    h('thead', { class: 'visually-hidden' }, h('tr', {}, ['Step', 'Bar', 'Nodes', 'Share'].map((title) => h('th', { scope: 'col', text: title })))),
    h('tbody', {}, row('in the cluster', total, total, 0), steps.map((step) => row(step.title, step.nodes, step.left, step.nodes)),
      row(`= ${blockerText(available)}`, left, left, 0)));
}

// Options that a shell reads as they are meant: each name has no character with a meaning there, or is in quotes. Those
// of plans that another program has made may have others.
const word = `(?:[\\w./:=@%,+-]|'[^']*'|"'")+`;
const plainOption = `--(?:add-nodes|remove-gang|set-[a-z]+|tolerate|uncordon)[ =]${word}`;
const plainOptions = new RegExp(`^${plainOption}(?: ${plainOption})*$`);

// A command, with a button that copies it. Without the clipboard, the button selects the text.
function commandView(command) {
  const code = h('code', { text: command }), status = h('span', { class: 'muted', role: 'status' });
  const select = () => {
    getSelection().selectAllChildren(code);
    status.textContent = 'Selected: copy it with Ctrl+C.';
  };
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(command);
      status.textContent = 'Copied.';
    } catch {
      select();
    }
  };
  return h('p', { class: 'command' }, code, h('button', { type: 'button', class: 'copy', onclick: copy }, 'Copy'), status);
}

function optionsView(options) {
  const command = `muster what-if ${options}`;
  if (plainOptions.test(options)) return commandView(command);
  return [h('p', { class: 'command' }, h('code', { text: command })), h('p', { class: 'muted', text: 'Names in it need quotes in a shell.' })];
}

export const neverText = 'Nothing that was tried helps.';

// `remedy`: as in the plan; undefined: it has none. `isSearched`: the plan has a remedy for some gang.
export function remedyView(remedy, isSearched) {
  const title = h('h4', { text: 'What would start it' });
  if (!remedy) {
    const found = isSearched ? 'The plan has no remedy for this gang. ' : 'The plan has no remedies. ';
    return h('div', { class: 'remedy' }, title, h('p', { class: 'muted' }, found, h('code', { text: 'muster solve --remedies N' }), ' searches one for each of the first N gangs that wait, if the plan is ready before its time.'));
  }
  if (remedy.kind === 'never') return h('div', { class: 'remedy' }, title, h('p', { text: neverText }));
  const [badge, help] = remedy.smallest ? ['proven smallest', 'Everything smaller of this kind that was tried leaves the gang waiting.'] : ['not proven to be the smallest', 'Something smaller may be enough.'];
  return h('div', { class: 'remedy' }, title,
    h('p', {}, h('strong', { text: remedy.text }), ' ', h('span', { class: `badge${remedy.smallest ? ' good' : ''}`, title: help, text: badge })),
    remedy.options && optionsView(remedy.options));
}
