// Elements of the page. Text goes in as text nodes and attributes as attributes, never as markup: names are anything.

export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(properties ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith('on')) element.addEventListener(key.slice(2), value);
    else if (key === 'class') element.className = value;
    else if (key === 'text') element.textContent = value;
    else if (key === 'style') for (const [name, one] of Object.entries(value)) element.style.setProperty(name, one);
    else element.setAttribute(key, value === true ? '' : value);
  }
  append(element, children);
  return element;
}

export function append(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === undefined || child === null || child === false) continue;
    element.append(child);
  }
}

export function replace(element, ...children) {
  element.textContent = '';
  append(element, children);
  return element;
}

let ids = 0;
export const freshId = (prefix) => `${prefix}-${++ids}`;

// A labelled control.
export function field(label, control) {
  control.id ||= freshId('field');
  return h('div', { class: 'field' }, h('label', { for: control.id, text: label }), control);
}

export function select(options, onchange, value) {
  const element = h('select', { onchange: () => onchange(element.value) },
    options.map(([key, text]) => h('option', { value: key, text })));
  if (value !== undefined) element.value = value;
  return element;
}

// Several buttons of which one is on.
export function switcher(label, options, onchange, value) {
  const buttons = options.map(([key, text]) =>
    h('button', { type: 'button', 'data-value': key, 'aria-pressed': String(key === value), onclick: () => choose(key) }, text));
  const choose = (key) => {
    for (const button of buttons) button.setAttribute('aria-pressed', String(button.dataset.value === key));
    onchange(key);
  };
  const element = h('div', { class: 'switcher', role: 'group', 'aria-label': label }, buttons);
  return { element, choose };
}

export function section(id, title, lead, ...children) {
  return h('section', { id, 'aria-labelledby': `${id}-title` },
    h('header', { class: 'section-head' }, h('h2', { id: `${id}-title`, text: title }), lead && h('p', { class: 'lead', text: lead })),
    children);
}

export const empty = (text) => h('p', { class: 'empty', text });

// Calls `work` at most once a frame.
export function oncePerFrame(work) {
  let waits = false;
  return () => {
    if (waits) return;
    waits = true;
    requestAnimationFrame(() => {
      waits = false;
      work();
    });
  };
}
