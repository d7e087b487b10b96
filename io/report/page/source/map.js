// The map of the cluster: every device of every node, before and after the plan; zoomed, moved in, filtered and read by
// mouse and keyboard alike.
import { h, append, replace, field, select, switcher, oncePerFrame, freshId } from './elements.js';
import { natural } from './table.js';
import { layOut, deviceAt } from './map_layout.js';
import { MapPainter } from './map_paint.js';
import { themed, paintSwatch } from './colours.js';
import { bytes, cores, count, number, percent, plural } from './format.js';
import { changeWords, evictionWords } from './words.js';
import { evictionReasons, placed, moved, evicted } from './unpack.js';

const mostScale = 56, podsTold = 24;

export class ClusterMap {
  constructor(cluster) {
    this.cluster = cluster;
    this.painter = new MapPainter(cluster);
    this.filter = { queue: '', gang: '', node: '', model: '' };
    this.options = { mode: 'before', groupBy: 'model', sortBy: 'name', patterns: false };
    this.camera = { x: 0, y: 0, scale: 1 };
    this.focus = null;
    this.draw = oncePerFrame(() => this.paint());
    this.build();
  }

  build() {
    const { cluster } = this;
    const statusId = freshId('map-status'), helpId = freshId('map-help');
    this.canvas = h('canvas', { class: 'map-canvas', tabindex: 0, role: 'application', 'aria-label': 'Map of all GPUs', 'aria-describedby': `${statusId} ${helpId}` });
    this.tip = h('div', { class: 'map-tip', hidden: true, 'aria-hidden': 'true' });
    this.status = h('p', { class: 'visually-hidden', id: statusId, role: 'status' });
    this.stage = h('div', { class: 'map-stage' }, this.canvas, this.tip);
    this.panel = h('aside', { class: 'map-panel', 'aria-label': 'What stands here' });
    this.legend = h('div', { class: 'legend', role: 'group', 'aria-label': 'Queues' });
    this.matchText = h('p', { class: 'match', role: 'status' });
    this.element = h('div', { class: 'map' }, this.controls(), h('div', { class: 'legend-row' }, this.legend, this.zoomButtons()), this.matchText,
      h('div', { class: 'map-row' }, this.stage, this.panel),
      h('p', { class: 'hint', id: helpId },
        h('kbd', { text: '←↑↓→' }), ' move from GPU to GPU, ', h('kbd', { text: '+' }), ' ', h('kbd', { text: '−' }), ' zoom, ', h('kbd', { text: '0' }),
        ' shows all, ', h('kbd', { text: 'B' }), ' switches before and after. With the mouse: drag, and scroll with Ctrl (or after a click on the map).'),
      this.status);
    this.listen();
    this.buildLegend();
    this.tellPanel(null);
    new ResizeObserver(oncePerFrame(() => this.resize())).observe(this.stage);
    if (cluster.deviceCount === 0) replace(this.stage, h('p', { class: 'empty', text: 'No node of this cluster has a GPU, so there is nothing to draw.' }));
  }

  controls() {
    const { cluster } = this;
    const models = [...new Set(cluster.kinds.filter(({ gpus }) => gpus > 0).map(({ model }) => model))].sort(natural);
    this.modes = switcher('Before or after the plan', [['before', 'Before'], ['after', 'After'], ['changes', 'Changes']], (mode) => this.set({ mode }), 'before');
    this.queueSelect = select([['', 'all queues'], ...cluster.leafQueues.map((queue) => [String(queue), cluster.queues.name[queue]])], (queue) => this.setFilter({ queue }));
    this.gangInput = h('input', { type: 'search', placeholder: 'contains …', oninput: () => this.setFilter({ gang: this.gangInput.value }) });
    this.nodeInput = h('input', { type: 'search', placeholder: 'contains …', oninput: () => this.setFilter({ node: this.nodeInput.value }) });
    this.modelSelect = select([['', 'all models'], ...models.map((model) => [`=${model}`, model || 'unknown model'])], (model) => this.setFilter({ model }));
    const groups = [['model', 'GPU model'], ...cluster.topology.map(({ label }) => [label, label]), ['none', 'nothing']];
    const patterns = h('input', { type: 'checkbox', onchange: () => this.set({ patterns: patterns.checked }) });
    return h('div', { class: 'controls' }, this.modes.element,
      field('Queue', this.queueSelect), field('Gang or pod', this.gangInput), field('Node', this.nodeInput), models.length > 1 && field('GPU model', this.modelSelect),
      field('Group by', select(groups, (groupBy) => this.set({ groupBy }), 'model')),
      field('Order', select([['name', 'by name'], ['free', 'most free first'], ['full', 'fullest first']], (sortBy) => this.set({ sortBy }), 'name')),
      h('label', { class: 'check' }, patterns, ' Patterns'),
      h('button', { type: 'button', class: 'plain', onclick: () => this.clearFilter() }, 'Clear filters'));
  }

  zoomButtons() {
    const button = (text, label, action) => h('button', { type: 'button', 'aria-label': label, title: label, onclick: action }, text);
    return h('div', { class: 'zoom', role: 'group', 'aria-label': 'Zoom' }, button('+', 'Zoom in', () => this.zoom(1.5)), button('−', 'Zoom out', () => this.zoom(1 / 1.5)), button('⤢', 'Show all', () => this.fit()));
  }

  buildLegend() {
    const { cluster } = this;
    replace(this.legend, cluster.leafQueues.slice(0, 40).map((queue, rank) => {
      const swatch = h('canvas', { class: 'swatch', 'aria-hidden': 'true' });
      paintSwatch(swatch, rank, String(rank + 1));
      return h('button', { type: 'button', class: 'legend-item', 'data-queue': queue, 'aria-pressed': 'false', onclick: () => this.toggleQueue(queue) }, swatch, h('span', { text: cluster.queues.name[queue] }));
    }));
    if (cluster.leafQueues.length > 40) this.legend.append(h('span', { class: 'muted', text: `and ${cluster.leafQueues.length - 40} more (choose above)` }));
    this.legendMarks = h('span', { class: 'legend-marks' });
    this.legend.append(this.legendMarks);
  }

  tellMarks() {
    const key = (name, text) => h('span', { class: 'legend-key' }, h('span', { class: `key-${name}`, 'aria-hidden': 'true' }), text);
    replace(this.legendMarks, key('free', 'free'), this.options.mode === 'changes' && [key('stays', 'stays as it was'), key('new', '+ placed now, → moved here'), key('away', 'pods leave')]);
  }

  toggleQueue(queue) {
    const value = this.filter.queue === String(queue) ? '' : String(queue);
    this.queueSelect.value = value;
    this.setFilter({ queue: value });
  }

  clearFilter() {
    for (const control of [this.queueSelect, this.gangInput, this.nodeInput, this.modelSelect]) control.value = '';
    this.setFilter({ queue: '', gang: '', node: '', model: '' });
  }

  // From outside: only this gang.
  showGang(name) {
    this.gangInput.value = name;
    this.setFilter({ gang: name });
  }

  showPlan(plan) {
    this.plan = plan;
    this.modes.element.hidden = !plan;
    this.set({ mode: plan ? 'after' : 'before' });
    this.modes.choose(this.options.mode);
  }

  set(options) {
    const relays = 'groupBy' in options || 'sortBy' in options;
    Object.assign(this.options, options);
    if (relays || this.options.sortBy !== 'name') this.layout = null;
    this.refresh();
  }

  setFilter(filter) {
    Object.assign(this.filter, filter);
    for (const item of this.legend.querySelectorAll('.legend-item')) item.setAttribute('aria-pressed', String(this.filter.queue === item.dataset.queue));
    this.refresh();
  }

  // Which pods and nodes the filter lets through.
  match() {
    const { cluster, filter } = this, { pods, gangs } = cluster;
    const queue = filter.queue === '' ? -1 : Number(filter.queue), gang = filter.gang.trim().toLowerCase(), node = filter.node.trim().toLowerCase();
    const gangMatches = new Uint8Array(gangs.name.length);
    for (let i = 0; i < gangMatches.length; ++i) {
      gangMatches[i] = (queue < 0 || gangs.queue[i] === queue) && (gang === '' || gangs.name[i].toLowerCase().includes(gang)) ? 1 : 0;
    }
    const podMatches = new Uint8Array(pods.name.length);
    for (let i = 0; i < podMatches.length; ++i) {
      const of = pods.gang[i];
      podMatches[i] = gangMatches[of] || (gang !== '' && (queue < 0 || gangs.queue[of] === queue) && pods.name[i].toLowerCase().includes(gang)) ? 1 : 0;
    }
    const nodeMatches = new Uint8Array(cluster.nodeCount);
    for (let i = 0; i < nodeMatches.length; ++i) {
      nodeMatches[i] = (node === '' || cluster.nodeName[i].toLowerCase().includes(node)) && (filter.model === '' || filter.model.slice(1) === cluster.kindOf(i).model) ? 1 : 0;
    }
    this.podMatches = podMatches;
    this.nodeMatches = nodeMatches;
    this.filtersPods = queue >= 0 || gang !== '';
  }

  tellMatch() {
    const { cluster } = this, isFiltered = this.filtersPods || this.filter.node !== '' || this.filter.model !== '';
    if (!isFiltered) return replace(this.matchText);
    const side = this.sideShown(), onNodes = new Set();
    let share = 0, pods = 0;
    const { start } = side.occupancy;
    for (let node = 0; node < cluster.nodeCount; ++node) {
      if (!this.nodeMatches[node]) continue;
      for (let at = start[cluster.deviceBase[node]]; at < start[cluster.deviceBase[node + 1]]; ++at) {
        if (!this.podMatches[side.occupancy.pod[at]]) continue;
        share += side.occupancy.share[at];
        onNodes.add(node);
      }
      for (let at = side.podsByNode.start[node]; at < side.podsByNode.start[node + 1]; ++at) pods += this.podMatches[side.podsByNode.pod[at]];
    }
    const nodes = this.nodeMatches.reduce((a, b) => a + b, 0);
    return replace(this.matchText, `Shown: ${plural(pods, 'pod')} on ${number(share, 2)} GPUs of ${plural(onNodes.size, 'node')}${nodes < cluster.nodeCount ? ` (${plural(nodes, 'node')} match)` : ''}; the rest is faint.`);
  }

  sideShown() {
    return this.options.mode === 'before' || !this.plan ? this.cluster.before : this.plan;
  }

  refresh() {
    if (this.cluster.deviceCount === 0) return;
    if (!this.layout) this.layAndFit();
    this.match();
    this.painter.show({ plan: this.plan, ...this.options, layout: this.layout, matchesPod: (pod) => this.podMatches[pod] === 1,
      matchesNode: (node) => this.nodeMatches[node] === 1 });
    this.tellMatch();
    this.tellMarks();
    if (this.focus) this.tellPanel(this.focus);
    this.draw();
  }

  layAndFit() {
    const { cluster } = this, side = this.sideShown();
    const { width, height } = this.stage.getBoundingClientRect();
    const used = (node) => {
      const { start, share } = side.occupancy;
      let sum = 0;
      for (let at = start[cluster.deviceBase[node]]; at < start[cluster.deviceBase[node + 1]]; ++at) sum += share[at];
      return sum;
    };
    const free = new Float32Array(cluster.nodeCount);
    const { sortBy, groupBy } = this.options;
    if (sortBy !== 'name') for (let node = 0; node < cluster.nodeCount; ++node) free[node] = cluster.kindOf(node).gpus - used(node);
    const sign = sortBy === 'free' ? -1 : 1;
    if (!this.byName) {
      const sorted = cluster.nodeName.map((_, i) => i).sort((a, b) => natural(cluster.nodeName[a], cluster.nodeName[b]));
      this.byName = new Uint32Array(cluster.nodeCount);
      sorted.forEach((node, at) => {
        this.byName[node] = at;
      });
    }
    const order = (a, b) => (sortBy === 'name' ? 0 : sign * (free[a] - free[b])) || this.byName[a] - this.byName[b];
    const view = { width: Math.max(200, width - 24), height: Math.max(150, height - 24) };
    this.layout = layOut(cluster, { groupBy, order, aspect: view.width / view.height, headHeight: (cells) => Math.max(0.9, (20 * cells) / view.width) });
    this.fit();
  }

  resize() {
    const { width, height } = this.stage.getBoundingClientRect();
    if (width === 0 || this.cluster.deviceCount === 0) return;
    const ratio = window.devicePixelRatio || 1;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    this.layout = null;
    this.refresh();
  }

  fit() {
    const { width, height } = this.stage.getBoundingClientRect(), { layout } = this;
    this.fitScale = Math.min((width - 24) / layout.width, (height - 24) / layout.height, 44);
    const scale = this.fitScale;
    this.camera = { scale, x: -12 / scale, y: -12 / scale };
    this.draw();
  }

  zoom(factor, px, py) {
    const { width, height } = this.stage.getBoundingClientRect();
    const { camera } = this, atX = px ?? width / 2, atY = py ?? height / 2;
    const scale = Math.max(this.fitScale * 0.8, Math.min(Math.max(mostScale, this.fitScale), camera.scale * factor));
    camera.x += atX / camera.scale - atX / scale;
    camera.y += atY / camera.scale - atY / scale;
    camera.scale = scale;
    this.draw();
  }

  paint() {
    const ratio = window.devicePixelRatio || 1, context = this.canvas.getContext('2d');
    if (!this.layout || this.canvas.width === 0) return;
    const width = this.canvas.width / ratio, height = this.canvas.height / ratio;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.painter.paint(context, this.camera, width, height);
    this.paintFocus(context);
  }

  paintFocus(context) {
    const at = this.focus;
    if (!at) return;
    const { layout, camera, cluster } = this, columns = layout.columns[at.node], side = Math.max(4, camera.scale);
    const left = (layout.x[at.node] + (at.device % columns) - camera.x) * camera.scale, top = (layout.y[at.node] + Math.floor(at.device / columns) - camera.y) * camera.scale;
    context.strokeStyle = themed('--ink');
    context.lineWidth = 1;
    const rows = Math.ceil(cluster.kindOf(at.node).gpus / columns);
    context.strokeRect((layout.x[at.node] - camera.x) * camera.scale - 1.5, (layout.y[at.node] - camera.y) * camera.scale - 1.5, columns * camera.scale + 2, rows * camera.scale + 2);
    context.lineWidth = 3;
    context.strokeStyle = themed('--ground');
    context.strokeRect(left - 1, top - 1, side + 1, side + 1);
    context.lineWidth = 2;
    context.strokeStyle = themed('--accent');
    context.strokeRect(left - 1, top - 1, side + 1, side + 1);
  }

  listen() {
    const { canvas } = this;
    const place = (event) => {
      const box = canvas.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    const at = (event) => {
      const [px, py] = place(event), { camera } = this;
      return this.layout && deviceAt(this.layout, this.cluster, px / camera.scale + camera.x, py / camera.scale + camera.y);
    };
    let drag = null;
    canvas.addEventListener('pointerdown', (event) => {
      drag = { from: place(event), camera: { ...this.camera }, far: false };
      canvas.setPointerCapture(event.pointerId);
      canvas.focus({ preventScroll: true });
    });
    canvas.addEventListener('pointermove', (event) => {
      const [px, py] = place(event);
      if (!drag) return this.hover(at(event), px, py);
      const dx = px - drag.from[0], dy = py - drag.from[1];
      drag.far ||= Math.hypot(dx, dy) > 4;
      if (!drag.far) return;
      this.camera.x = drag.camera.x - dx / this.camera.scale;
      this.camera.y = drag.camera.y - dy / this.camera.scale;
      this.hover(null);
      this.draw();
    });
    canvas.addEventListener('pointerup', (event) => {
      if (drag && !drag.far) this.moveTo(at(event));
      drag = null;
    });
    canvas.addEventListener('pointerleave', () => this.hover(null));
    canvas.addEventListener('wheel', (event) => {
      if (!event.ctrlKey && document.activeElement !== canvas) return;
      event.preventDefault();
      this.zoom(Math.exp(-event.deltaY / 300), ...place(event));
    }, { passive: false });
    canvas.addEventListener('dblclick', (event) => this.zoom(2, ...place(event)));
    canvas.addEventListener('keydown', (event) => this.onKey(event));
    canvas.addEventListener('focus', () => {
      if (!this.focus && this.layout && canvas.matches(':focus-visible')) this.moveTo({ node: this.layout.sequence[0], device: 0 });
    });
  }

  onKey(event) {
    if (event.altKey || event.metaKey || event.ctrlKey) return;
    const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    const actions = { '+': () => this.zoom(1.5), '=': () => this.zoom(1.5), '-': () => this.zoom(1 / 1.5), 0: () => this.fit(), Escape: () => this.moveTo(null),
      Home: () => this.moveTo({ node: this.layout.sequence[0], device: 0 }), End: () => this.moveTo({ node: this.layout.sequence.at(-1), device: 0 }) };
    if (event.key in steps) this.step(...steps[event.key]);
    else if (event.key in actions) actions[event.key]();
    else return;
    event.preventDefault();
  }

  // To the nearest device in a direction.
  step(dx, dy) {
    const { layout, cluster, focus } = this;
    if (!focus) return this.moveTo({ node: layout.sequence[0], device: 0 });
    const columns = layout.columns[focus.node];
    const x = layout.x[focus.node] + (focus.device % columns) + 0.5, y = layout.y[focus.node] + Math.floor(focus.device / columns) + 0.5;
    for (let far = 1; far < Math.max(layout.width, layout.height) + 2; far += 0.25) {
      const px = x + dx * far, py = y + dy * far;
      if (px < -1 || py < -1 || px > layout.width + 1 || py > layout.height + 1) break;
      const found = deviceAt(layout, cluster, px, py);
      if (found && (found.node !== focus.node || found.device !== focus.device)) return this.moveTo(found);
    }
    return undefined;
  }

  moveTo(at) {
    this.focus = at;
    if (at) this.bringIntoView(at.node);
    this.tellPanel(at);
    this.draw();
  }

  bringIntoView(node) {
    const { width, height } = this.stage.getBoundingClientRect(), { camera, layout } = this, margin = 11;
    const left = (layout.x[node] - camera.x) * camera.scale, top = (layout.y[node] - camera.y) * camera.scale;
    if (left < margin) camera.x -= (margin - left) / camera.scale;
    if (left > width - 6 * margin) camera.x += (left - width + 6 * margin) / camera.scale;
    if (top < margin) camera.y -= (margin - top) / camera.scale;
    if (top > height - 6 * margin) camera.y += (top - height + 6 * margin) / camera.scale;
  }

  hover(at, px, py) {
    this.tip.hidden = !at;
    if (!at) return;
    replace(this.tip, h('strong', { text: this.cluster.nodeName[at.node] }), ` · GPU ${at.device}`, h('br'), this.tellDevice(at).slice(0, 3).map((text) => h('div', { text })));
    const box = this.stage.getBoundingClientRect();
    this.tip.style.left = `${Math.min(px + 14, box.width - 250)}px`;
    this.tip.style.top = `${py + 16 > box.height - 90 ? py - 80 : py + 16}px`;
  }

  // One line a user of the device, as shown.
  tellDevice({ node, device }) {
    const { cluster } = this, { occupancy } = this.sideShown(), at = cluster.deviceBase[node] + device, lines = [];
    for (let i = occupancy.start[at]; i < occupancy.start[at + 1]; ++i) {
      const pod = occupancy.pod[i];
      lines.push(`${percent(occupancy.share[i], 1)}: ${cluster.pods.name[pod]} (${this.queueName(pod)})`);
    }
    return lines.length > 0 ? lines : ['free'];
  }

  queueName(pod) {
    const queue = this.cluster.queueOf(pod);
    return queue < 0 ? 'no queue' : this.cluster.queues.name[queue];
  }

  tellPanel(at) {
    if (!at) return replace(this.panel, h('h3', { text: 'What stands here' }), h('p', { class: 'muted', text: 'Point at a GPU, click it, or move onto the map with Tab and go through it with the arrow keys.' }));
    const { cluster } = this, kind = cluster.kindOf(at.node), side = this.sideShown(), { podsByNode } = side;
    const pods = [...podsByNode.pod.slice(podsByNode.start[at.node], podsByNode.start[at.node + 1])];
    const sum = (key) => pods.reduce((total, pod) => total + cluster.requests[cluster.pods.request[pod]][key], 0);
    const domains = cluster.topology.map(({ label, values, of }) => [label, values[of[at.node]] || 'none']);
    const fact = (name, value) => [h('dt', { text: name }), h('dd', { text: value })];
    replace(this.panel, h('h3', { text: cluster.nodeName[at.node] }),
      h('p', { class: 'muted', text: `${plural(kind.gpus, 'GPU')}${kind.model ? ` ${kind.model}` : ''}${kind.gpuMib ? `, ${bytes(kind.gpuMib * 2 ** 20)} each` : ''}${kind.cordoned ? ' · cordoned' : ''}` }),
      h('dl', { class: 'facts' }, fact('CPU', `${number(sum('cpu') / 1000, 1)} of ${cores(kind.cpu)}`), fact('Memory', `${bytes(sum('memory'))} of ${bytes(kind.memory)}`), domains.map(([name, value]) => fact(name, value))),
      h('h4', { text: `GPU ${at.device}` }), h('ul', { class: 'users' }, this.tellDevice(at).map((text) => h('li', { text }))),
      h('h4', { text: `${plural(pods.length, 'pod')} on this node` }), this.podList(pods, side));
    append(this.panel, [this.leaversList(at.node)]);
    this.status.textContent = `${cluster.nodeName[at.node]}, GPU ${at.device}: ${this.tellDevice(at).join('; ')}`;
    return this.panel;
  }

  podList(pods, side) {
    const { cluster } = this;
    const item = (pod) => h('li', {}, h('span', { class: 'pod-name', text: cluster.pods.name[pod] }),
      h('span', { class: 'muted', text: ` ${this.queueName(pod)}, gang ${cluster.gangs.name[cluster.pods.gang[pod]]}${this.devicesText(side.devicesOf(pod))}${this.changeText(pod)}` }));
    return h('ul', { class: 'pods' }, pods.slice(0, podsTold).map(item), pods.length > podsTold && h('li', { class: 'muted', text: `and ${count(pods.length - podsTold)} more` }));
  }

  devicesText(devices) {
    const list = [...devices];
    return list.length === 0 ? '' : `, GPU ${list.join(', ')}`;
  }

  changeText(pod) {
    const { plan } = this;
    if (!plan || plan.change[pod] === 0) return '';
    const change = plan.change[pod];
    const why = plan.reason[pod] >= 0 && change === evicted ? ` (${evictionWords[evictionReasons[plan.reason[pod]]]})` : '';
    return ` · ${changeWords[change]}${why}${(change === placed || change === moved) && plan.waits[pod] ? ', once its room is free' : ''}`;
  }

  leaversList(node) {
    const { cluster, plan } = this, { start, pod } = cluster.before.podsByNode;
    if (!plan || this.options.mode === 'before') return null;
    const gone = [...pod.slice(start[node], start[node + 1])].filter((one) => plan.change[one] >= moved && plan.node[one] !== node);
    if (gone.length === 0) return null;
    return [h('h4', { text: `${plural(gone.length, 'pod')} left by this plan` }), this.podList(gone, cluster.before)];
  }
}
