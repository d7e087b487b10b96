// Figures of benchmarks: a table for each file, a column for each key, whatever they are.
import { h, section } from './elements.js';
import { Table } from './table.js';
import { number } from './format.js';

// {"a":1,"ms":{"p50":2}} as a → 1, ms.p50 → 2; lists only told by their length.
function flat(object, prefix, into) {
  for (const [key, value] of Object.entries(object)) {
    const name = prefix ? `${prefix}.${key}` : key;
    if (Array.isArray(value)) into[name] = value.every((one) => typeof one !== 'object') && value.length <= 8 ? value.join(', ') : `${value.length} entries`;
    else if (value !== null && typeof value === 'object') flat(value, name, into);
    else into[name] = value;
  }
  return into;
}

// "elapsedMs" as "elapsed (ms)", so that numbers have units.
const units = [[/Ms$/, 'ms'], [/Seconds$/, 's'], [/Percent$/, '%'], [/MiB$/, 'MiB'], [/Bytes$/, 'bytes'], [/Gpus$/, 'GPUs']];
function heading(key) {
  const found = units.find(([end]) => end.test(key));
  const words = (found ? key.replace(found[0], '') : key).replace(/([a-z0-9])([A-Z])/g, '$1 $2').replace(/\./g, ' ').toLowerCase();
  return /^ms /.test(words) ? `${words.slice(3)} (ms)` : found ? `${words} (${found[1]})` : words;
}

const shown = (value) => (value === null || value === undefined ? '–' : typeof value === 'number' ? number(value, Math.abs(value) < 10 ? 4 : Math.abs(value) < 1000 ? 2 : 0) : String(value));

export function figuresView(figures) {
  const files = new Map();
  for (const { label, line } of figures) {
    if (!files.has(label)) files.set(label, []);
    files.get(label).push(flat(line, '', {}));
  }
  return section('figures', 'Benchmarks', 'Figures as they were measured, one row a run. Choose a heading to sort.', [...files].map(([label, rows]) => {
    const keys = [...new Set(rows.flatMap(Object.keys))];
    const columns = keys.map((key) => {
      const isNumeric = rows.every((row) => row[key] === undefined || row[key] === null || typeof row[key] === 'number');
      const longest = Math.max(heading(key).length, ...rows.slice(0, 200).map((row) => shown(row[key]).length));
      return { title: heading(key), width: `${Math.round(Math.min(260, 34 + longest * 7.6))}px`, numeric: isNumeric, text: (row) => shown(row[key]), value: isNumeric ? (row) => row[key] ?? -Infinity : undefined };
    });
    const minWidth = columns.reduce((sum, { width }) => sum + parseInt(width, 10) + 10, 24);
    const table = new Table(columns, { label, height: 420, minWidth });
    table.show(rows);
    return [h('h3', { class: 'sub', text: label }), table.element];
  }));
}
