// Waiting and running of any number of gangs over time: only the rows in sight are drawn.
import { h, field, select, oncePerFrame, freshId, replace } from './elements.js';
import { colourOf, patternOf, paintPattern, paintSwatch, inkOn, themed } from './colours.js';
import { natural } from './table.js';
import { count, duration, gpus, plural } from './format.js';

const rowHeight = 22, nameWidth = 190, axisHeight = 24;
const ends = { finish: 'finished', drop: 'dropped', interrupt: 'interrupted', preempt: 'preempted', reclaim: 'reclaimed', stale: 'evicted as stale', failure: 'lost to a failed node', end: 'still runs at the end' };

export class Gantt {
  constructor(simulation, clock) {
    Object.assign(this, { simulation, clock, from: 0, to: Math.max(1, simulation.end), active: -1 });
    this.filter = { text: '', queue: '', order: 'submitted' };
    this.index();
    this.draw = oncePerFrame(() => this.paint());
    this.build();
    this.apply();
  }

  // The runs of each gang, which lie together.
  index() {
    const { gangs, runs, cycles } = this.simulation, n = gangs.name.length;
    this.firstRun = new Uint32Array(n + 1);
    for (const gang of runs.gang) ++this.firstRun[gang + 1];
    for (let i = 0; i < n; ++i) this.firstRun[i + 1] += this.firstRun[i];
    const used = this.simulation.queues.map((_, at) => [at, (cycles.queues[at]?.allocated ?? []).reduce((a, b) => a + b, 0)]).sort((a, b) => b[1] - a[1]);
    this.rank = new Int32Array(this.simulation.queues.length);
    used.forEach(([queue], rank) => {
      this.rank[queue] = rank;
    });
  }

  runsOf(gang) {
    return Array.from({ length: this.firstRun[gang + 1] - this.firstRun[gang] }, (_, i) => this.firstRun[gang] + i);
  }

  waitOf(gang) {
    const { gangs, runs, end } = this.simulation, first = this.firstRun[gang];
    return (first < this.firstRun[gang + 1] ? runs.from[first] : gangs.left[gang] >= 0 ? gangs.left[gang] : end) - gangs.submitted[gang];
  }

  build() {
    const { queues } = this.simulation;
    const search = h('input', { type: 'search', placeholder: 'contains …', oninput: () => {
      this.filter.text = search.value;
      this.apply();
    } });
    const set = (key) => (value) => {
      this.filter[key] = value;
      this.apply();
    };
    this.canvas = h('canvas', { class: 'gantt-canvas', 'aria-hidden': 'true' });
    this.spacer = h('div', { class: 'gantt-spacer' });
    this.scroller = h('div', { class: 'gantt', tabindex: 0, role: 'application', 'aria-label': 'Gangs over time', 'aria-describedby': (this.statusId = freshId('gantt-status')),
      onscroll: () => this.draw(), onkeydown: (event) => this.onKey(event) }, h('div', { class: 'gantt-hold' }, this.canvas), this.spacer);
    this.status = h('p', { class: 'gantt-status', role: 'status', id: this.statusId });
    this.total = h('p', { class: 'match' });
    const button = (text, label, action) => h('button', { type: 'button', title: label, 'aria-label': label, onclick: action }, text);
    this.legend = h('div', { class: 'legend' }, queues.map((name, queue) => [this.rank[queue], name]).sort((a, b) => a[0] - b[0]).slice(0, 20).map(([rank, name]) => {
      const swatch = h('canvas', { class: 'swatch', 'aria-hidden': 'true' });
      paintSwatch(swatch, rank, String(rank + 1));
      return h('span', { class: 'legend-key' }, swatch, h('span', { class: 'plain-text', text: name }));
    }));
    this.element = h('div', {}, h('div', { class: 'controls' }, field('Gang', search), field('Queue', select([['', 'all queues'], ...queues.map((name, i) => [String(i), name])], set('queue'))),
      field('Order', select([['submitted', 'as submitted'], ['waited', 'longest wait first'], ['gpus', 'most GPUs first'], ['runs', 'most often interrupted first'], ['name', 'by name']], set('order'))),
      h('div', { class: 'zoom', role: 'group', 'aria-label': 'Zoom in time' }, button('+', 'Zoom in', () => this.zoom(0.5)), button('−', 'Zoom out', () => this.zoom(2)), button('⤢', 'Show all', () => this.showAll()))),
    this.legend, this.total, this.scroller, this.status,
    h('p', { class: 'hint' }, h('kbd', { text: '↑↓' }), ' from gang to gang, ', h('kbd', { text: '←→' }), ' through time, ', h('kbd', { text: '+' }), ' ', h('kbd', { text: '−' }), ' zoom, ', h('kbd', { text: '0' }), ' shows all.'));
    this.listen();
    new ResizeObserver(() => this.draw()).observe(this.scroller);
  }

  listen() {
    const rowAt = (event) => Math.floor((event.clientY - this.scroller.getBoundingClientRect().top + this.scroller.scrollTop - axisHeight) / rowHeight);
    this.scroller.addEventListener('pointermove', (event) => this.tell(rowAt(event)));
    this.scroller.addEventListener('click', (event) => this.activate(rowAt(event)));
    this.scroller.addEventListener('wheel', (event) => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      const box = this.scroller.getBoundingClientRect();
      this.zoom(Math.exp(event.deltaY / 300), (event.clientX - box.left - nameWidth) / (box.width - nameWidth));
    }, { passive: false });
  }

  apply() {
    const { gangs } = this.simulation, { text, queue, order } = this.filter, wanted = text.trim().toLowerCase();
    const all = gangs.name.map((_, i) => i);
    this.sorted = all.filter((i) => (queue === '' || gangs.queue[i] === Number(queue)) && (wanted === '' || gangs.name[i].toLowerCase().includes(wanted)));
    const keys = { waited: (i) => -this.waitOf(i), gpus: (i) => -gangs.gpus[i], runs: (i) => this.firstRun[i] - this.firstRun[i + 1], submitted: (i) => gangs.submitted[i] };
    if (order === 'name') this.sorted.sort((a, b) => natural(gangs.name[a], gangs.name[b]));
    else this.sorted.sort((a, b) => keys[order](a) - keys[order](b) || a - b);
    this.active = -1;
    this.window(0);
    replace(this.status, 'Point at a row, or choose one with the arrow keys.');
  }

  // The rows of those that wait or run in the time that is shown; the chosen one stays where it is.
  window(scrollTop = this.scroller.scrollTop) {
    const { gangs, end } = this.simulation, chosen = this.rows?.[this.active];
    this.rows = this.sorted.filter((i) => gangs.submitted[i] <= this.to && (gangs.left[i] >= 0 ? gangs.left[i] : end) >= this.from);
    const at = chosen === undefined ? -1 : this.rows.indexOf(chosen);
    this.spacer.style.height = `${this.rows.length * rowHeight + axisHeight}px`;
    this.scroller.scrollTop = at < 0 ? scrollTop : scrollTop + (at - this.active) * rowHeight;
    this.active = at;
    replace(this.total, `${count(this.rows.length)} of ${plural(gangs.name.length, 'gang')} wait or run in the time shown: ${this.clock(this.from)} to ${this.clock(this.to)}.`);
    this.draw();
  }

  zoom(factor, at = this.middleOfActive()) {
    const middle = this.from + (this.to - this.from) * at, span = Math.min(this.simulation.end || 1, Math.max(1, (this.to - this.from) * factor));
    this.from = Math.max(0, Math.min((this.simulation.end || 1) - span, middle - span * at));
    this.to = this.from + span;
    this.window();
  }

  showAll() {
    this.from = 0;
    this.to = Math.max(1, this.simulation.end);
    this.window();
  }

  // Where in the time shown the chosen gang begins to run; else the middle.
  middleOfActive() {
    const gang = this.rows[this.active], first = gang === undefined ? undefined : this.simulation.runs.from[this.runsOf(gang)[0]];
    const at = first === undefined ? 0.5 : (first - this.from) / (this.to - this.from);
    return at >= 0 && at <= 1 ? at : 0.5;
  }

  pan(share) {
    const span = this.to - this.from;
    this.from = Math.max(0, Math.min(this.simulation.end - span, this.from + share * span));
    this.to = this.from + span;
    this.window();
  }

  onKey(event) {
    const page = Math.max(1, Math.floor(this.scroller.clientHeight / rowHeight) - 2);
    const actions = { ArrowDown: () => this.activate(this.active + 1), ArrowUp: () => this.activate(this.active - 1), PageDown: () => this.activate(this.active + page), PageUp: () => this.activate(this.active - page),
      Home: () => this.activate(0), End: () => this.activate(this.rows.length - 1), ArrowLeft: () => this.pan(-0.2), ArrowRight: () => this.pan(0.2), '+': () => this.zoom(0.5), '=': () => this.zoom(0.5), '-': () => this.zoom(2), 0: () => this.showAll() };
    if (event.ctrlKey || event.altKey || !(event.key in actions)) return;
    event.preventDefault();
    event.stopPropagation();
    actions[event.key]();
  }

  activate(row) {
    this.active = Math.max(0, Math.min(this.rows.length - 1, row));
    const top = this.active * rowHeight, visible = this.scroller.clientHeight - axisHeight - rowHeight;
    if (top < this.scroller.scrollTop) this.scroller.scrollTop = top;
    if (top > this.scroller.scrollTop + visible) this.scroller.scrollTop = top - visible;
    this.tell(this.active);
    this.draw();
  }

  tell(row) {
    const gang = this.rows[row];
    if (gang === undefined) return;
    const { gangs, runs, queues } = this.simulation, own = this.runsOf(gang);
    const told = own.slice(0, 4).map((i) => `ran ${duration(runs.to[i] - runs.from[i])}, ${ends[runs.how(i)] ?? runs.how(i)}`);
    if (own.length > 4) told.push(`and ${plural(own.length - 4, 'more run')}`);
    replace(this.status, h('strong', { text: gangs.name[gang] }), ` · queue ${queues[gangs.queue[gang]]}, ${plural(gangs.pods[gang], 'pod')}, ${gpus(gangs.gpus[gang])}; submitted ${this.clock(gangs.submitted[gang])}, waited ${duration(this.waitOf(gang))}${own.length === 0 ? ', never started' : ''}${told.length > 0 ? `; ${told.join('; ')}` : ''}`);
  }

  paint() {
    const { scroller, canvas } = this, ratio = window.devicePixelRatio || 1, width = scroller.clientWidth, height = scroller.clientHeight;
    if (width === 0 || !canvas.isConnected) return;
    canvas.width = width * ratio;
    canvas.height = height * ratio;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
    const context = canvas.getContext('2d');
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.x = (time) => nameWidth + ((time - this.from) / (this.to - this.from)) * (width - nameWidth - 8);
    const first = Math.floor(scroller.scrollTop / rowHeight), last = Math.min(this.rows.length, first + Math.ceil(height / rowHeight) + 1);
    const theme = { ink: themed('--ink'), muted: themed('--muted'), edge: themed('--edge'), ground: themed('--card'), soft: themed('--soft'), away: themed('--away') };
    context.fillStyle = theme.ground;
    context.fillRect(0, 0, width, height);
    this.paintGrid(context, width, height, theme);
    for (let row = first; row < last; ++row) this.paintRow(context, row, axisHeight + row * rowHeight - scroller.scrollTop, width, theme);
    this.paintAxis(context, width, height, theme);
  }

  paintRow(context, row, top, width, theme) {
    const { gangs, runs, end } = this.simulation, gang = this.rows[row], middle = top + rowHeight / 2, rank = this.rank[gangs.queue[gang]];
    if (row === this.active) {
      context.fillStyle = theme.soft;
      context.fillRect(0, top, width, rowHeight);
    }
    context.save();
    context.beginPath();
    context.rect(nameWidth, top, width - nameWidth, rowHeight);
    context.clip();
    const until = gangs.left[gang] >= 0 ? gangs.left[gang] : end;
    context.fillStyle = theme.muted;
    context.fillRect(this.x(gangs.submitted[gang]), middle - 1, Math.max(1, this.x(until) - this.x(gangs.submitted[gang])), 2);
    for (let i = this.firstRun[gang]; i < this.firstRun[gang + 1]; ++i) this.paintRun(context, i, top, rank, theme);
    if (gangs.dropped[gang]) paintMark(context, this.x(until), middle, theme.away);
    context.restore();
    context.fillStyle = theme.ink;
    context.font = '12px system-ui, sans-serif';
    context.textAlign = 'left';
    context.textBaseline = 'middle';
    const name = gangs.name[gang];
    context.fillText(name.length > 26 ? `${name.slice(0, 12)}…${name.slice(-13)}` : name, 6, middle);
  }

  paintRun(context, i, top, rank, theme) {
    const { runs } = this.simulation, left = this.x(runs.from[i]), width = Math.max(2, this.x(runs.to[i]) - left), how = runs.how(i);
    context.fillStyle = colourOf(rank);
    context.fillRect(left, top + 4, width, rowHeight - 8);
    paintPattern(context, patternOf(rank), left, top + 4, width, rowHeight - 8, inkOn(colourOf(rank)));
    if (how !== 'finish' && how !== 'end') paintMark(context, left + width, top + rowHeight / 2, theme.away);
  }

  // Instants of the axis and where they are.
  ticks(width) {
    const ticks = Math.max(2, Math.floor((width - nameWidth) / 130));
    return Array.from({ length: ticks }, (_, i) => this.from + ((i + 0.5) * (this.to - this.from)) / ticks).map((time) => [time, Math.round(this.x(time)) + 0.5]);
  }

  paintGrid(context, width, height, theme) {
    context.strokeStyle = theme.edge;
    for (const [, x] of this.ticks(width)) {
      context.beginPath();
      context.moveTo(x, axisHeight);
      context.lineTo(x, height);
      context.stroke();
    }
  }

  paintAxis(context, width, height, theme) {
    context.fillStyle = theme.ground;
    context.fillRect(0, 0, width, axisHeight);
    context.strokeStyle = theme.edge;
    context.fillStyle = theme.muted;
    context.font = '11px system-ui, sans-serif';
    context.textAlign = 'center';
    context.textBaseline = 'middle';
    for (const [time, x] of this.ticks(width)) context.fillText(this.clock(time), x, axisHeight / 2);
    context.beginPath();
    context.moveTo(0, axisHeight - 0.5);
    context.lineTo(width, axisHeight - 0.5);
    context.moveTo(nameWidth - 4.5, 0);
    context.lineTo(nameWidth - 4.5, height);
    context.stroke();
  }
}

// A cross: here something ended before its time.
function paintMark(context, x, y, colour) {
  context.strokeStyle = colour;
  context.lineWidth = 2;
  context.beginPath();
  context.moveTo(x - 4, y - 4);
  context.lineTo(x + 4, y + 4);
  context.moveTo(x - 4, y + 4);
  context.lineTo(x + 4, y - 4);
  context.stroke();
}
