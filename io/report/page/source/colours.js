// Colours that people of any colour vision tell apart (Okabe and Ito 2008); beyond seven of them patterns come on top.

export const palette = ['#E69F00', '#56B4E9', '#009E73', '#F0E442', '#0072B2', '#D55E00', '#CC79A7'];
export const patterns = ['plain', 'diagonal', 'dots', 'bars', 'grid'];
export const noQueue = '#8a8f98';  // of pods without a queue

export const colourOf = (rank) => (rank < 0 ? noQueue : palette[rank % palette.length]);
export const patternOf = (rank) => (rank < 0 ? 0 : Math.floor(rank / palette.length) % patterns.length);

// Whether black or white is read better on a colour.
export function inkOn(hex) {
  const [r, g, b] = channels(hex);
  return 0.299 * r + 0.587 * g + 0.114 * b > 140 ? '#111' : '#fff';
}

export function channels(hex) {
  if (hex.length === 4) return [1, 2, 3].map((i) => 17 * parseInt(hex[i], 16));
  return [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
}

// A swatch of a legend: colour, pattern and number.
export function paintSwatch(canvas, rank, label) {
  const ratio = window.devicePixelRatio || 1, size = 20;
  canvas.width = canvas.height = size * ratio;
  const context = canvas.getContext('2d');
  context.scale(ratio, ratio);
  context.fillStyle = colourOf(rank);
  context.fillRect(0, 0, size, size);
  paintPattern(context, patternOf(rank), 0, 0, size, size, inkOn(colourOf(rank)));
  if (label !== undefined) paintLabel(context, label, size / 2, size / 2, 10, colourOf(rank));
}

export function paintPattern(context, pattern, x, y, width, height, ink) {
  if (pattern === 0) return;
  context.save();
  context.beginPath();
  context.rect(x, y, width, height);
  context.clip();
  context.strokeStyle = context.fillStyle = ink;
  context.globalAlpha *= 0.5;
  context.lineWidth = 1;
  const step = 5;
  context.beginPath();
  if (pattern === 1) {
    for (let at = -height; at < width; at += step) {
      context.moveTo(x + at, y + height);
      context.lineTo(x + at + height, y);
    }
  } else if (pattern === 2) {
    for (let dx = 2; dx < width; dx += step) for (let dy = 2; dy < height; dy += step) context.rect(x + dx, y + dy, 1, 1);
  }
  if (pattern >= 3) for (let dy = 2; dy < height; dy += step) context.rect(x, y + dy, width, 0.01);
  if (pattern === 4) for (let dx = 2; dx < width; dx += step) context.rect(x + dx, y, 0.01, height);
  context.stroke();
  context.restore();
}

export function paintLabel(context, text, x, y, size, ground) {
  context.font = `600 ${size}px system-ui, sans-serif`;
  context.textAlign = 'center';
  context.textBaseline = 'middle';
  context.fillStyle = inkOn(ground);
  context.fillText(text, x, y + 0.5);
}

// The value of a colour of the style sheet, now.
export const themed = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
