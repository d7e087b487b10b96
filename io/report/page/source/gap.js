// How value and bound of a goal close in while a snapshot is solved, from the lines of `muster solve --trace`.
import { h, section, replace, select, field } from './elements.js';
import { lineChart } from './chart.js';
import { milliseconds, number, percent } from './format.js';
import { levels } from './words.js';

const goalName = ({ level, priority }) => `${levels[level]?.title ?? level}${priority === undefined ? '' : `, priority ${priority} and above`}`;

// Goals of the lines of one trace: [{ name, level, points: [[x, value, bound, engine]] }].
function goalsOf(lines) {
  const goals = new Map();
  lines.forEach((line, i) => {
    const name = goalName(line);
    if (!goals.has(name)) goals.set(name, { name, level: line.level, points: [] });
    goals.get(name).points.push([line.ms ?? i, line.value, line.bound, line.engine]);
  });
  return [...goals.values()];
}

const shortOf = ([, value, bound]) => (bound === null || bound === undefined ? Infinity : Math.abs(bound - value) / Math.max(1, Math.abs(bound)));

// The goal that tells most: the first that is still open at the end, else the one that changed most often.
const tellingGoal = (goals) => goals.find(({ points }) => shortOf(points.at(-1)) > 0) ?? [...goals].sort((a, b) => b.points.length - a.points.length)[0];

export function gapView(traces) {
  const runs = new Map();
  for (const { label, line } of traces) {
    const key = line.id ? `${label} · ${line.id}` : label;
    if (!runs.has(key)) runs.set(key, []);
    runs.get(key).push(line);
  }
  const host = h('div');
  const show = (key) => {
    const goals = goalsOf(runs.get(key)), timed = runs.get(key)[0].ms !== undefined;
    const charts = h('div'), open = (name) => replace(charts, goalCharts(goals.find((goal) => goal.name === name), timed));
    const first = tellingGoal(goals);
    replace(host, h('div', { class: 'controls' }, field('Goal', select(goals.map(({ name }) => [name, name]), open, first.name))), charts);
    open(first.name);
  };
  const keys = [...runs.keys()];
  const chooser = keys.length > 1 && h('div', { class: 'controls' }, field('Run', select(keys.map((key) => [key, key]), show)));
  const view = section('gap', 'How the plan got better', 'The lower line is the best plan found so far, the upper one what is proven possible: where they meet, nothing better exists. (For goals that are minimised it is the other way round.)', chooser, host);
  show(keys[0]);
  return view;
}

function goalCharts({ name, level, points }, timed) {
  const { scale, unit } = levels[level] ?? { scale: 1, unit: '' };
  const xs = points.map(([x]) => x), value = (point) => point[1] / scale, bound = (point) => (point[2] === null || point[2] === undefined ? null : point[2] / scale);
  const x = timed ? { title: 'time since the snapshot was read', text: milliseconds } : { title: 'change', text: (at) => number(at, 0) };
  const digits = (figure) => number(figure, Math.abs(figure) < 100 ? 2 : 1);
  const last = points.at(-1), short = shortOf(last);
  return [
    h('p', { class: 'muted', text: `${name}: ${digits(value(last))} ${unit} at the end, ${short === 0 ? 'proven best' : short === Infinity ? 'no bound proven' : `at most ${percent(short, 3)} short of the best possible`}; last change by ${last[3]}.` }),
    lineChart({ title: `${name} (${unit})`, x, y: { title: unit, text: digits }, xs, lines: [{ title: 'best plan so far', values: points.map(value), rank: 4, stepped: true, dash: [] }, { title: 'proven possible', values: points.map(bound), rank: 5, stepped: true, dash: [8, 4] }] }),
    points.some((point) => Number.isFinite(shortOf(point)) && shortOf(point) > 0) && lineChart({ title: 'Gap between the two', x, y: { title: 'gap', text: (share) => percent(share, 2), from: 0 }, xs, height: 180,
      lines: [{ title: 'gap', values: points.map((point) => (Number.isFinite(shortOf(point)) ? shortOf(point) : null)), rank: 2, stepped: true, dash: [] }] }),
  ];
}
