// Where each node and device stands on the map, in cells: one device is one cell, a node a block of cells, nodes of one
// group lie together, left to right and down.
import { natural } from './table.js';

const gap = 0.5;  // between blocks
const manyNodes = 800;  // from here on names have less room, as they are seen from near only

const columnsOf = (gpus) => (gpus <= 4 ? gpus : Math.ceil(gpus / 2));

// The groups of nodes with devices: [{ label, nodes }].
function groupsOf(cluster, groupBy) {
  const groups = new Map();
  const level = cluster.topology.find(({ label }) => label === groupBy);
  for (let node = 0; node < cluster.nodeCount; ++node) {
    const kind = cluster.kindOf(node);
    if (kind.gpus === 0) continue;
    const label = groupBy === 'model' ? kind.model || 'unknown model' : level ? level.values[level.of[node]] || 'outside of the topology' : '';
    if (!groups.has(label)) groups.set(label, []);
    groups.get(label).push(node);
  }
  return [...groups].map(([label, nodes]) => ({ label, nodes })).sort((a, b) => natural(a.label, b.label));
}

// Lays out for a view of `aspect` = width / height. `order`: compares two nodes. `headHeight(cells wide)`: of a group's
// heading, in cells.
export function layOut(cluster, { groupBy, order, aspect, headHeight }) {
  const groups = groupsOf(cluster, groupBy), strip = cluster.nodeCount < manyNodes ? 0.75 : 0.25;
  for (const group of groups) {
    group.strip = strip;
    group.gpus = Math.max(...group.nodes.map((node) => cluster.kindOf(node).gpus));
    group.nodes.sort(order);
    group.columns = columnsOf(group.gpus);
    group.blockWidth = group.columns + gap;
    group.blockHeight = Math.ceil(group.gpus / group.columns) + strip + gap;
  }
  const heightFor = (width) => {
    const head = groups.length > 1 || groupBy !== 'none' ? headHeight(width) : 0;
    return groups.reduce((sum, { nodes, blockWidth, blockHeight }) => {
      const across = Math.max(1, Math.floor((width + gap) / blockWidth));
      return sum + head + Math.ceil(nodes.length / across) * blockHeight;
    }, 0);
  };
  const widest = Math.max(1, ...groups.map(({ blockWidth }) => blockWidth));
  let low = widest, high = widest * Math.max(1, ...groups.map(({ nodes }) => nodes.length));
  for (let i = 0; i < 40 && high - low > 0.5; ++i) {
    const middle = (low + high) / 2;
    if (middle / heightFor(middle) < aspect) low = middle;
    else high = middle;
  }
  return place(cluster, groups, Math.max(widest, high), groups.length > 1 || groupBy !== 'none' ? headHeight(high) : 0);
}

function place(cluster, groups, width, head) {
  const x = new Float32Array(cluster.nodeCount).fill(-1), y = new Float32Array(cluster.nodeCount), columns = new Uint8Array(cluster.nodeCount);
  const sequence = [];
  let top = 0, right = 1;
  for (const group of groups) {
    group.top = top;
    const across = Math.max(1, Math.floor((width + gap) / group.blockWidth));
    group.nodes.forEach((node, i) => {
      x[node] = (i % across) * group.blockWidth;
      y[node] = top + head + Math.floor(i / across) * group.blockHeight + group.strip;
      columns[node] = group.columns;
      sequence.push(node);
    });
    right = Math.max(right, Math.min(across, group.nodes.length) * group.blockWidth - gap);
    top += head + Math.ceil(group.nodes.length / across) * group.blockHeight;
    group.bottom = top;
    group.across = across;
    group.head = head;
  }
  return { groups, width: right, height: Math.max(1, top - gap), x, y, columns, sequence };
}

// The device at a point of the map, or of a node's block: { node, device } or null.
export function deviceAt(layout, cluster, px, py) {
  const group = layout.groups.find(({ top, bottom }) => py >= top && py < bottom);
  if (!group) return null;
  const column = Math.floor(px / group.blockWidth), row = Math.floor((py - group.top - group.head) / group.blockHeight);
  if (column < 0 || column >= group.across || row < 0) return null;
  const node = group.nodes[row * group.across + column];
  if (node === undefined) return null;
  const dx = Math.floor(px - layout.x[node]), dy = Math.floor(py - layout.y[node]);
  if (dx < 0 || dx >= group.columns || dy < -1) return null;
  const device = Math.max(0, dy) * group.columns + dx;
  return device < cluster.kindOf(node).gpus ? { node, device } : null;
}
