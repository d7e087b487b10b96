// Draws the map: far away from a picture with four by four dots a device, which is made once; near by what is in sight,
// device by device.
import { colourOf, patternOf, channels, inkOn, paintPattern, paintLabel, themed } from './colours.js';
import { placed, moved } from './unpack.js';

const dots = 4, faint = 0.13, nearCell = 9, labelCell = 15;

export class MapPainter {
  constructor(cluster) {
    this.cluster = cluster;
    this.picture = document.createElement('canvas');
    this.colours = new Map();
  }

  // view: { plan, mode, layout, matchesPod, matchesNode, patterns }
  show(view) {
    this.view = view;
    this.theme = { free: themed('--free'), edge: themed('--edge'), ground: themed('--card'), ink: themed('--ink'), muted: themed('--muted'),
      dim: themed('--dim'), away: themed('--away'), accent: themed('--accent') };
    this.isStale = true;
  }

  // The pods drawn on a device, bottom up: calls visit(rank, share, change, pod).
  users(node, device, visit) {
    const { cluster } = this, { plan, mode } = this.view;
    const occupancy = mode === 'before' || !plan ? cluster.before.occupancy : plan.occupancy;
    const at = cluster.deviceBase[node] + device;
    for (let i = occupancy.start[at]; i < occupancy.start[at + 1]; ++i) {
      const pod = occupancy.pod[i];
      visit(cluster.rankOf[cluster.queueOf(pod)] ?? -1, occupancy.share[i], plan ? plan.change[pod] : 0, pod);
    }
  }

  // The pods that leave the device by the plan: evicted, moved away or on its way out.
  departing(node, device) {
    const { cluster } = this, { plan, mode } = this.view;
    if (mode !== 'changes' || !plan) return 0;
    const { start, pod } = cluster.before.occupancy, at = cluster.deviceBase[node] + device;
    let worst = 0;
    for (let i = start[at]; i < start[at + 1]; ++i) if (plan.change[pod[i]] >= moved) worst = Math.max(worst, plan.change[pod[i]]);
    return worst;
  }

  colour(rank, change) {
    if (this.view.mode === 'changes' && change !== placed && change !== moved) return this.theme.dim;
    return colourOf(rank);
  }

  paint(context, camera, width, height) {
    const { scale, x, y } = camera;
    context.fillStyle = this.theme.ground;
    context.fillRect(0, 0, width, height);
    if (scale < nearCell) {
      if (this.isStale) this.makePicture();
      context.imageSmoothingEnabled = scale < dots;
      context.imageSmoothingQuality = 'high';
      context.drawImage(this.picture, -x * scale, -y * scale, (this.picture.width / dots) * scale, (this.picture.height / dots) * scale);
    } else {
      this.paintNear(context, camera, width, height);
    }
    this.paintHeads(context, camera, width);
  }

  paintHeads(context, { scale, x, y }, width) {
    context.textAlign = 'left';
    context.textBaseline = 'alphabetic';
    for (const group of this.view.layout.groups) {
      if (!group.head || !group.label) continue;
      const top = (group.top - y) * scale, size = Math.min(13, Math.max(9, group.head * scale * 0.62));
      context.font = `600 ${size}px system-ui, sans-serif`;
      context.fillStyle = this.theme.ink;
      const text = `${group.label}  ·  ${group.nodes.length.toLocaleString('en')} ${group.nodes.length === 1 ? 'node' : 'nodes'}`;
      const left = Math.max(2, -x * scale);
      if (left < width) context.fillText(text, left, top + Math.max(size, group.head * scale * 0.72));
    }
  }

  // One dot is one pixel of the picture.
  makePicture() {
    const { cluster } = this, { layout, matchesPod, matchesNode } = this.view;
    const width = Math.ceil(layout.width * dots), height = Math.ceil(layout.height * dots);
    this.picture.width = width;
    this.picture.height = height;
    const context = this.picture.getContext('2d');
    const image = context.createImageData(width, height), pixels = new Uint32Array(image.data.buffer);
    const ground = this.packed(this.theme.ground), packedOf = new Map();
    pixels.fill(ground);
    const packed = (colour, matches) => {
      const key = matches ? colour : `${colour}~`;
      if (!packedOf.has(key)) packedOf.set(key, this.packed(colour, matches ? 1 : faint));
      return packedOf.get(key);
    };
    for (const node of layout.sequence) {
      const columns = layout.columns[node], gpus = cluster.kindOf(node).gpus, isNode = matchesNode(node);
      for (let device = 0; device < gpus; ++device) {
        const left = Math.round((layout.x[node] + (device % columns)) * dots), top = Math.round((layout.y[node] + Math.floor(device / columns)) * dots);
        this.paintDots(pixels, width, left, top, node, device, (colour, pod) => packed(colour, isNode && (pod === undefined ? true : matchesPod(pod))));
      }
    }
    context.putImageData(image, 0, 0);
    this.isStale = false;
  }

  paintDots(pixels, width, left, top, node, device, packed) {
    const side = dots;
    const fill = (from, to, value) => {
      for (let row = from; row < to; ++row) for (let column = 0; column < side; ++column) pixels[(top + row) * width + left + column] = value;
    };
    fill(0, side, packed(this.theme.free));
    let below = side;
    this.users(node, device, (rank, share, change, pod) => {
      const rows = Math.max(share > 0.999 ? side : 1, Math.round(share * side)), from = Math.max(0, below - rows);
      fill(from, below, packed(this.colour(rank, change), pod));
      below = from;
    });
    if (this.departing(node, device) !== 0) for (let i = 0; i < side; ++i) pixels[(top + i) * width + left + i] = packed(this.theme.away);
  }

  packed(colour, alpha = 1) {
    const ground = channels(this.theme.ground), [r, g, b] = channels(colour).map((one, i) => Math.round(one * alpha + ground[i] * (1 - alpha)));
    return ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
  }

  paintNear(context, { scale, x, y }, width, height) {
    const { cluster } = this, { layout, matchesNode } = this.view;
    for (const node of layout.sequence) {
      const left = (layout.x[node] - x) * scale, top = (layout.y[node] - y) * scale;
      const columns = layout.columns[node], kind = cluster.kindOf(node), rows = Math.ceil(kind.gpus / columns);
      if (left > width || top > height || left + columns * scale < 0 || top + rows * scale < 0) continue;
      this.paintName(context, node, left, top, columns * scale, scale);
      for (let device = 0; device < kind.gpus; ++device) {
        this.paintDevice(context, node, device, left + (device % columns) * scale, top + Math.floor(device / columns) * scale, scale, matchesNode(node));
      }
    }
  }

  paintName(context, node, left, top, width, scale) {
    const size = Math.min(12, scale * 0.62);
    if (size < 7) return;
    const name = this.cluster.nodeName[node], most = Math.floor(width / (size * 0.52));
    context.font = `${size}px system-ui, sans-serif`;
    context.textAlign = 'left';
    context.textBaseline = 'alphabetic';
    context.fillStyle = this.cluster.kindOf(node).cordoned ? this.theme.away : this.theme.muted;
    context.globalAlpha = this.view.matchesNode(node) ? 1 : 0.3;
    context.fillText(name.length > most ? `…${name.slice(1 - most)}` : name, left, top - 3);
    context.globalAlpha = 1;
  }

  paintDevice(context, node, device, left, top, scale, matchesNode) {
    const { theme } = this, side = scale - Math.max(1, scale * 0.06);
    context.globalAlpha = matchesNode ? 1 : faint;
    context.fillStyle = theme.free;
    context.fillRect(left, top, side, side);
    let below = top + side;
    this.users(node, device, (rank, share, change, pod) => {
      const height = Math.min(share * side, below - top);
      below -= height;
      context.globalAlpha = matchesNode && this.view.matchesPod(pod) ? 1 : faint;
      const colour = this.colour(rank, change);
      context.fillStyle = colour;
      context.fillRect(left, below, side, height);
      if (colour !== theme.dim) this.paintMarks(context, rank, change, { left, top: below, width: side, height });
      context.fillStyle = theme.ground;
      if (share < 0.999) context.fillRect(left, below - 0.5, side, 1);
    });
    context.globalAlpha = matchesNode ? 1 : faint;
    if (this.departing(node, device) !== 0) paintLeaving(context, left, top, side, theme.away);
    context.globalAlpha = 1;
  }

  paintMarks(context, rank, change, { left, top, width, height }) {
    const ink = inkOn(colourOf(rank));
    const pattern = this.view.patterns && rank >= 0 ? (patternOf(rank) || (rank % 5)) : patternOf(rank);
    paintPattern(context, pattern, left, top, width, height, ink);
    if (width < labelCell || height < 9) return;
    const sign = this.view.mode === 'changes' ? (change === moved ? '→' : change === placed ? '+' : '') : '';
    paintLabel(context, sign || (rank < 0 ? '?' : String(rank + 1)), left + width / 2, top + height / 2, Math.min(13, width * 0.5, height * 0.8), colourOf(rank));
  }
}

// Pods leave here: a frame with a corner.
function paintLeaving(context, left, top, side, colour) {
  const corner = side * 0.36;
  context.strokeStyle = context.fillStyle = colour;
  context.lineWidth = Math.max(1, side * 0.09);
  context.strokeRect(left + 1, top + 1, side - 2, side - 2);
  context.beginPath();
  context.moveTo(left + side - corner, top);
  context.lineTo(left + side, top);
  context.lineTo(left + side, top + corner);
  context.fill();
}
