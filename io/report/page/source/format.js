// Numbers with their units, for people.

const formats = new Map();
export function number(value, digits = 1) {
  if (value === null || value === undefined || Number.isNaN(value)) return '–';
  if (!formats.has(digits)) formats.set(digits, new Intl.NumberFormat('en', { maximumFractionDigits: digits }));
  return formats.get(digits).format(value);
}

export const count = (value) => number(value, 0);
export const plural = (value, one, many = `${one}s`) => `${count(value)} ${value === 1 ? one : many}`;
export const gpus = (value, digits = 2) => `${number(value, digits)} ${value === 1 ? 'GPU' : 'GPUs'}`;
export const percent = (share, digits = 1) => (Number.isFinite(share) ? `${number(100 * share, digits)} %` : '–');
export const cores = (millicores) => `${number(millicores / 1000, 1)} ${millicores === 1000 ? 'core' : 'cores'}`;

export function bytes(value) {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'];
  let at = 0;
  while (value >= 1024 && at < units.length - 1) {
    value /= 1024;
    ++at;
  }
  return `${number(value, value < 10 ? 1 : 0)} ${units[at]}`;
}

export function duration(seconds) {
  if (seconds === null || seconds === undefined || Number.isNaN(seconds)) return '–';
  if (seconds < 0.0005) return '0 s';
  if (seconds < 1) return `${number(seconds * 1000, 0)} ms`;
  if (seconds < 60) return `${number(seconds, 1)} s`;
  const units = [[86400, 'd'], [3600, 'h'], [60, 'min'], [1, 's']];
  const first = units.findIndex(([length]) => seconds >= length);
  const [large, name] = units[first];
  let whole = Math.floor(seconds / large);
  if (first + 1 >= units.length) return `${whole} ${name}`;
  const [small, next] = units[first + 1];
  let rest = Math.round((seconds - whole * large) / small);
  if (rest * small >= large) {
    ++whole;
    rest = 0;
  }
  return rest > 0 ? `${count(whole)} ${name} ${rest} ${next}` : `${count(whole)} ${name}`;
}

export const milliseconds = (ms) => duration(ms / 1000);

export function instant(seconds) {
  const date = new Date(seconds * 1000);
  if (Number.isNaN(date.getTime())) return `${seconds} s`;
  return `${date.toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

// What is small in sight of 1970 is a count of seconds, not a date.
export const isDate = (seconds) => seconds > 86400 * 365;
