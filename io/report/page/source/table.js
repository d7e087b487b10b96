// A table of any length: only the rows in sight are elements. Sorted by its heads, moved in by the arrow keys.
import { h, replace, oncePerFrame, freshId } from './elements.js';

const rowHeight = 34, printedRows = 200;

// columns: [{ key, title, width, numeric, value(item), text(item), cell(item) }]; `cell` gives an element where text is
// not enough. options: { label, onopen(item), emptyText, height, minWidth }.
export class Table {
  constructor(columns, options) {
    Object.assign(this, { columns, options, items: [], sort: null, active: -1 });
    this.id = freshId('table');
    this.layout = columns.map((column) => column.width ?? '1fr').join(' ');
    this.head = h('div', { class: 'table-row table-head', role: 'row', style: { 'grid-template-columns': this.layout } },
      columns.map((column, at) => this.headCell(column, at)));
    this.body = h('div', { class: 'table-body', role: 'rowgroup' });
    this.scroller = h('div', { class: 'table-scroller', tabindex: 0, role: 'table', 'aria-label': options.label, id: this.id,
      onkeydown: (event) => this.onKey(event), onscroll: oncePerFrame(() => this.draw()),
      style: { 'max-height': `${options.height ?? 480}px` } },
      h('div', { role: 'rowgroup', class: 'table-headgroup' }, this.head), this.body);
    if (options.minWidth) for (const part of [this.head, this.body]) part.style.minWidth = `${options.minWidth}px`;
    this.status = h('p', { class: 'table-status', role: 'status' });
    this.element = h('div', { class: 'table' }, this.scroller, this.status);
    new ResizeObserver(oncePerFrame(() => this.draw())).observe(this.scroller);
    window.addEventListener('beforeprint', () => this.drawRows(0, Math.min(printedRows, this.items.length)));
    window.addEventListener('afterprint', () => this.draw());
  }

  headCell(column, at) {
    return h('div', { role: 'columnheader', class: column.numeric ? 'numeric' : '', 'aria-sort': 'none' },
      h('button', { type: 'button', onclick: () => this.sortBy(at), title: column.help }, column.title, h('span', { class: 'sort-mark', 'aria-hidden': 'true' })));
  }

  show(items, of) {
    this.items = [...items];
    this.of = of ?? this.items.length;
    this.active = -1;
    this.order();
    this.scroller.scrollTop = 0;
    this.draw();
  }

  // The first click on numbers sorts the largest up, on texts from A; the next turns round.
  sortBy(at, descending) {
    const turned = this.sort?.at === at ? !this.sort.descending : Boolean(this.columns[at].numeric);
    this.sort = { at, descending: descending ?? turned };
    this.order();
    this.draw();
  }

  order() {
    const cells = [...this.head.children];
    cells.forEach((cell, at) => cell.setAttribute('aria-sort', this.sort?.at !== at ? 'none' : this.sort.descending ? 'descending' : 'ascending'));
    if (!this.sort) return;
    const { value, text } = this.columns[this.sort.at], key = value ?? text, sign = this.sort.descending ? -1 : 1;
    const keyed = this.items.map((item) => [key(item), item]);
    const compare = typeof keyed[0]?.[0] === 'number' ? (a, b) => a[0] - b[0] : (a, b) => collator.compare(a[0], b[0]);
    this.items = keyed.sort((a, b) => sign * compare(a, b)).map(([, item]) => item);
  }

  draw() {
    const first = Math.max(0, Math.floor(this.scroller.scrollTop / rowHeight) - 8);
    const shown = Math.ceil((this.scroller.clientHeight || 480) / rowHeight) + 16;
    this.drawRows(first, Math.min(this.items.length, first + shown));
  }

  drawRows(first, end) {
    this.scroller.setAttribute('aria-rowcount', this.items.length + 1);
    this.body.style.height = `${Math.max(1, this.items.length) * rowHeight}px`;
    const rows = [];
    for (let at = first; at < end; ++at) rows.push(this.row(at));
    replace(this.body, rows);
    if (this.items.length === 0) this.body.append(h('p', { class: 'empty', text: this.options.emptyText ?? 'Nothing here.' }));
    const rest = this.items.length > printedRows ? ` In print: the first ${printedRows}.` : '';
    this.status.textContent = `${this.items.length.toLocaleString('en')} of ${this.of.toLocaleString('en')} rows.${rest}`;
  }

  row(at) {
    const item = this.items[at];
    return h('div', { role: 'row', id: `${this.id}-${at}`, class: `table-row${at === this.active ? ' is-active' : ''}`, 'aria-rowindex': at + 2,
      'aria-selected': String(at === this.active), style: { 'grid-template-columns': this.layout, transform: `translateY(${at * rowHeight}px)` },
      onclick: () => this.activate(at, true) },
      this.columns.map((column) => {
        const content = column.cell ? column.cell(item) : column.text(item);
        return h('div', { role: 'cell', class: column.numeric ? 'numeric' : '', title: typeof content === 'string' ? content : undefined }, content);
      }));
  }

  activate(at, opens) {
    this.active = Math.max(0, Math.min(this.items.length - 1, at));
    if (this.items.length === 0) return;
    this.scroller.setAttribute('aria-activedescendant', `${this.id}-${this.active}`);
    const top = this.active * rowHeight, visible = this.scroller.clientHeight - rowHeight;
    if (top < this.scroller.scrollTop) this.scroller.scrollTop = top;
    if (top + rowHeight > this.scroller.scrollTop + visible) this.scroller.scrollTop = top + rowHeight - visible;
    this.draw();
    if (opens) this.options.onopen?.(this.items[this.active]);
  }

  onKey(event) {
    if (event.target !== this.scroller) return;
    const page = Math.max(1, Math.floor(this.scroller.clientHeight / rowHeight) - 2);
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -this.items.length, End: this.items.length };
    if (event.key in steps) this.activate(this.active + steps[event.key], false);
    else if (event.key === 'Enter' && this.active >= 0) this.options.onopen?.(this.items[this.active]);
    else return;
    event.preventDefault();
  }
}

const collator = new Intl.Collator('en', { numeric: true });
export const natural = collator.compare;
