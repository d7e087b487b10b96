// The page: reads the data block and puts the views that it has something for on it.
import { h, replace, field, select, empty, section } from './elements.js';
import { unpackCluster } from './unpack.js';
import { overview } from './overview.js';
import { ClusterMap } from './map.js';
import { queuesView } from './queues.js';
import { gangsView } from './gangs.js';
import { goalsView } from './goals.js';
import { gapView } from './gap.js';
import { curvesView, ganttView, unpackSimulation } from './simulation.js';
import { plansComparison, simulationsComparison } from './comparison.js';
import { outcomesOf, policiesView, policyCurves } from './policies.js';
import { figuresView } from './figures.js';
import { redrawCharts } from './chart.js';
import { instant, isDate } from './format.js';
import { palette } from './colours.js';

const data = JSON.parse(document.getElementById('report-data').textContent);
const root = document.documentElement;
palette.forEach((colour, i) => root.style.setProperty(`--queue-${i}`, colour));

const mostColumns = 12;
const themes = { auto: 'As the system', light: 'Light', dark: 'Dark' };
let shownMap = null, shownGantt = null;

function setTheme(theme) {
  if (theme === 'auto') root.removeAttribute('data-theme');
  else root.dataset.theme = theme;
  recolour();
}

function recolour() {
  shownMap?.refresh();
  shownGantt?.draw();
  redrawCharts();
}
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', recolour);

// On paper all is light: what is drawn must be drawn anew before the page is taken, not in a frame to come.
matchMedia('print').addEventListener('change', () => {
  recolour();
  shownMap?.paint();
  shownGantt?.paint();
});

// The state of the page: which snapshot, which of its plans.
const state = { cluster: 0, plan: 0, simulation: 0 };
const simulations = data.simulations.map(unpackSimulation);
const clusters = new Map();
const clusterAt = (i) => {
  if (!clusters.has(i)) clusters.set(i, unpackCluster(data.clusters[i]));
  return clusters.get(i);
};

const main = h('main', { id: 'content', tabindex: -1 });
const nav = h('nav', { 'aria-label': 'Sections' });
const choosers = h('div', { class: 'choosers' });
const help = h('dialog', { class: 'help', 'aria-labelledby': 'help-title' });

function buildHelp() {
  const key = (keys, text) => h('div', { class: 'help-row' }, h('span', {}, keys.map((one) => h('kbd', { text: one }))), h('span', { text }));
  replace(help, h('h2', { id: 'help-title', text: 'Keys' }),
    key(['1', '…', '9'], 'to the section of that number'), key(['B'], 'switch the map between before and after'), key(['/'], 'search gangs'), key(['T'], 'light or dark'), key(['?'], 'this help'),
    h('h3', { text: 'On the map' }), key(['←', '↑', '↓', '→'], 'from GPU to GPU'), key(['+', '−', '0'], 'zoom in, out, show all'), key(['Home', 'End'], 'first, last node'), key(['Esc'], 'let go'),
    h('h3', { text: 'In tables and charts' }), key(['↑', '↓', 'PgUp', 'PgDn'], 'from row to row'), key(['Enter'], 'open the row'), key(['←', '→'], 'read a chart’s values'),
    h('form', { method: 'dialog' }, h('button', {}, 'Close')));
}

function header() {
  const theme = select(Object.entries(themes), setTheme, 'auto');
  theme.id = 'theme';
  return h('header', { class: 'page-head' },
    h('a', { class: 'skip', href: '#content' }, 'Skip to the content'),
    h('div', { class: 'brand' }, h('h1', { text: data.title }), h('p', { id: 'subtitle', class: 'muted' })),
    choosers, h('div', { class: 'tools' }, field('Theme', theme), h('button', { type: 'button', onclick: () => print() }, 'Print'), h('button', { type: 'button', 'aria-keyshortcuts': '?', onclick: () => help.showModal() }, 'Keys')), nav);
}

function buildChoosers() {
  const plans = data.clusters[state.cluster]?.plans ?? [];
  replace(choosers,
    data.clusters.length > 1 && field('Snapshot', select(data.clusters.map(({ id }, i) => [String(i), `${i + 1}: ${id || 'without id'}`]), (value) => show(Number(value), 0), String(state.cluster))),
    simulations.length > 1 && field('Simulation', select(simulations.map(({ name }, i) => [String(i), name]), (value) => {
      state.simulation = Number(value);
      show(state.cluster, state.plan);
    }, String(state.simulation))),
    plans.length > 1 && field('Plan', select(plans.map(({ label }, i) => [String(i), label]), (value) => show(state.cluster, Number(value)), String(state.plan))));
}

function clusterSections() {
  if (data.clusters.length === 0) return [];
  const cluster = clusterAt(state.cluster), plan = cluster.plans[state.plan];
  const map = new ClusterMap(cluster);
  shownMap = map;
  const mapSection = section('map', 'The cluster, GPU by GPU', 'Each square is one GPU, as full as it is in use, in the colour and number of the queue that uses it.', map.element);
  const toMap = () => mapSection.scrollIntoView({ block: 'start' });
  const views = [overview(cluster, plan), mapSection,
    queuesView(cluster, plan, (queue) => {
      map.toggleQueue(queue);
      toMap();
    }),
    gangsView(cluster, plan, (gang) => {
      map.showGang(gang);
      toMap();
    })];
  if (plan) views.push(goalsView(cluster, plan));
  if (cluster.plans.length > 1) views.splice(1, 0, plansComparison(cluster));
  queueMicrotask(() => map.showPlan(plan));
  return views;
}

// All simulations together, then the one that is chosen.
function simulationSections() {
  const views = [], outcomes = outcomesOf(data.summaries, simulations);
  if (outcomes.length > 1) views.push(policiesView(outcomes));
  if (simulations.length > 1) views.push(policyCurves(simulations));
  // A column for each simulation: of a sweep, the rows of the table above must do.
  if (outcomes.length > 0 && outcomes.length <= mostColumns) views.push(simulationsComparison(outcomes));
  if (simulations.length === 0) return views;
  const simulation = simulations[state.simulation], gantt = ganttView(simulation);
  shownGantt = gantt.gantt;
  return [...views, curvesView(simulation), gantt.view];
}

function faultsView() {
  if (data.faults.length === 0) return null;
  return h('div', { class: 'warning', role: 'alert' }, h('strong', { text: 'Not everything that was given could be read.' }), h('ul', {}, data.faults.map((fault) => h('li', { text: fault }))));
}

function show(cluster, plan) {
  Object.assign(state, { cluster, plan });
  buildChoosers();
  const current = data.clusters[cluster];
  const views = [...clusterSections(), ...simulationSections(), data.traces.length > 0 && gapView(data.traces), data.figures.length > 0 && figuresView(data.figures)].filter(Boolean);
  replace(main, faultsView(), views.length > 0 ? views : empty('There is nothing in this report.'));
  replace(nav, views.map((view, i) => h('a', { href: `#${view.id}` }, h('span', { class: 'nav-number', 'aria-hidden': 'true', text: i + 1 }), view.querySelector('h2').textContent.split(/[:,]/)[0])));
  document.title = current?.id ? `${current.id} – ${data.title}` : data.title;
  document.getElementById('subtitle').textContent = current ? [current.id, isDate(current.time) && instant(current.time), state.plan < current.plans.length && current.plans[plan].label].filter(Boolean).join(' · ') : '';
}

function onKey(event) {
  if (event.ctrlKey || event.altKey || event.metaKey || event.target.matches('input, select, textarea') || help.open) return;
  if (/^[1-9]$/.test(event.key)) nav.children[Number(event.key) - 1]?.click();
  else if (event.key === 'b' || event.key === 'B') shownMap?.modes.choose(shownMap.options.mode === 'before' ? 'after' : 'before');
  else if (event.key === '/') document.querySelector('#gangs input')?.focus();
  else if (event.key === '?') help.showModal();
  else if (event.key === 't' || event.key === 'T') {
    const isDark = root.dataset.theme ? root.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
    const theme = document.getElementById('theme');
    theme.value = isDark ? 'light' : 'dark';
    setTheme(theme.value);
  } else return;
  event.preventDefault();
}

replace(document.getElementById('page'), header(), main, help);
buildHelp();
document.addEventListener('keydown', onKey);
show(0, 0);
