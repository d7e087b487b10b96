// A line chart by uPlot: lines told apart by colour and dash, read by mouse and arrow keys, and as a table.
import uPlot from 'uplot';
import { h, freshId, oncePerFrame } from './elements.js';
import { colourOf, themed } from './colours.js';
import { Table } from './table.js';

const dashes = [[], [8, 4], [2, 3], [10, 3, 2, 3], [5, 2], [12, 6], [1, 2]];
const charts = new Set();

// options: { title, x: { title, text(value) }, y: { title, text(value), from, to }, xs, lines: [{ title, values, rank,
// stepped, dash }], height }. `text` also names the ticks.
export function lineChart(options) {
  const host = h('div', { class: 'chart-host', tabindex: 0, role: 'img', 'aria-label': `${options.title}. Arrow keys read the values.` });
  const status = h('p', { class: 'visually-hidden', role: 'status', id: freshId('chart-status') });
  const element = h('figure', { class: 'chart' }, h('figcaption', { text: options.title }), host, status, valuesView(options));
  const chart = { host, draw: () => draw(options, chart), plot: null };
  charts.add(chart);
  new ResizeObserver(oncePerFrame(() => chart.draw())).observe(host);
  host.addEventListener('keydown', (event) => read(event, options, chart, status));
  return element;
}

export const redrawCharts = () => charts.forEach((chart) => chart.draw());

function draw(options, chart) {
  const width = chart.host.clientWidth;
  if (!chart.host.isConnected) return charts.delete(chart);
  if (width === 0) return undefined;
  chart.plot?.destroy();
  const ink = themed('--muted'), grid = { stroke: themed('--edge'), width: 1 };
  const axis = (side) => ({ label: side.title, stroke: ink, grid, ticks: grid, font: '12px system-ui', labelFont: '12px system-ui', labelSize: 22, values: (_, ticks) => ticks.map((tick) => side.text(tick)) });
  const series = options.lines.map((line, i) => ({ label: line.title, stroke: line.rank === undefined ? colourOf(i) : colourOf(line.rank), width: 2, dash: line.dash ?? dashes[i % dashes.length],
    paths: line.stepped ? uPlot.paths.stepped({ align: 1 }) : undefined, spanGaps: true, points: { show: options.xs.length < 30 }, value: (_, value) => (value === null || value === undefined ? '–' : options.y.text(value)) }));
  const range = (_, low, high) => {
    const from = options.y.from ?? low, to = options.y.to ?? high;
    return from < to ? [from, to + (options.y.to === undefined ? (to - from) * 0.05 : 0)] : [from, from + 1];
  };
  chart.plot = new uPlot({ width, height: options.height ?? 260, scales: { x: { time: false }, y: { range } }, axes: [{ ...axis(options.x), space: 120 }, { ...axis(options.y), size: 72 }],
    series: [{ label: options.x.title, value: (_, value) => (value === null || value === undefined ? '–' : options.x.text(value)) }, ...series], cursor: { drag: { x: true, y: false } } },
    [options.xs, ...options.lines.map(({ values }) => values)], chart.host);
  return undefined;
}

function read(event, options, chart, status) {
  const last = options.xs.length - 1, at = chart.plot?.cursor.idx ?? -1;
  const steps = { ArrowLeft: Math.max(0, at - 1), ArrowRight: Math.min(last, at + 1), Home: 0, End: last };
  if (!chart.plot || !(event.key in steps)) return;
  event.preventDefault();
  const to = steps[event.key];
  chart.plot.setCursor({ left: chart.plot.valToPos(options.xs[to], 'x'), top: 20 });
  status.textContent = `${options.x.text(options.xs[to])}: ${options.lines.map(({ title, values }) => `${title} ${values[to] === null ? 'none' : options.y.text(values[to])}`).join(', ')}`;
}

function valuesView(options) {
  const columns = [{ title: options.x.title, width: 'minmax(120px, 1fr)', numeric: true, value: (at) => options.xs[at], text: (at) => options.x.text(options.xs[at]) },
    ...options.lines.map(({ title, values }) => ({ title, width: 'minmax(90px, 1fr)', numeric: true, value: (at) => values[at] ?? NaN, text: (at) => (values[at] === null || values[at] === undefined ? '–' : options.y.text(values[at])) }))];
  const details = h('details', { class: 'values' }, h('summary', { text: 'Values as a table' }));
  details.addEventListener('toggle', () => {
    if (!details.open || details.childElementCount > 1) return;
    const table = new Table(columns, { label: options.title, height: 260 });
    details.append(table.element);
    table.show(options.xs.map((_, at) => at));
  });
  return details;
}
