// The live page: asks its node for series, spans and what is in flight, and shows them as they move.
// Names, labels and ids are the host's and may be anything: they become text nodes and nothing else.
'use strict';

const SECOND_MS = 1000, FLIGHT_EVERY = 2, SPANS_EVERY = 3, POINTS = 120, OPERATIONS = 30;
const PAGE = 100, HEAT_ROWS = 48, HEAT_COLUMNS = 120, ANSWER_MS = 10000;
const $ = id => document.getElementById(id);

const view = { search: '', own: false, from: 0, paused: false, matching: 0 };
const seen = new Map();   // of the series that are shown: key -> { line, points, row, ... }
const heat = { key: null, before: null, columns: [] };
let chosen = null;        // key of the series whose detail is shown
let cursor = 0;           // row that the keyboard is at
let trace = null;         // of the operation whose waterfall is shown
let looks = 0, lastAnswer = 0;

// ---- numbers as people read them

function digits(value) {
  if (!Number.isFinite(value)) return '–';
  const size = Math.abs(value);
  if (size >= 1e12) return value.toExponential(2);
  for (const [scale, name] of [[1e9, ' G'], [1e6, ' M'], [1e4, ' k']])
    if (size >= scale) return (value / (name === ' k' ? 1e3 : scale)).toPrecision(3) + name;
  return Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(3)));
}

const NS = { nanoseconds: 1, microseconds: 1e3, milliseconds: 1e6, seconds: 1e9 };

function duration(ns) {
  if (!Number.isFinite(ns)) return '–';
  for (const [scale, name] of [[3.6e12, 'h'], [6e10, 'min'], [1e9, 's'], [1e6, 'ms'], [1e3, 'µs']])
    if (Math.abs(ns) >= scale) return Number((ns / scale).toPrecision(3)) + ' ' + name;
  return Number(ns.toPrecision(3)) + ' ns';
}

function amount(value, unit) {
  if (value === null || value === undefined) return '–';
  if (NS[unit]) return duration(value * NS[unit]);
  if (unit === 'ratio') return Number((value * 100).toPrecision(3)) + ' %';
  if (unit !== 'bytes') return digits(value);
  for (const [scale, name] of [[2 ** 30, 'GiB'], [2 ** 20, 'MiB'], [2 ** 10, 'KiB']])
    if (Math.abs(value) >= scale) return Number((value / scale).toPrecision(3)) + ' ' + name;
  return digits(value) + ' B';
}

const rate = value => Number.isFinite(value) ? digits(value) + '/s' : '–';

// ---- elements

function put(parent, name, text, kind) {
  const element = document.createElement(name);
  if (text !== undefined) element.textContent = text;
  if (kind) element.className = kind;
  parent.append(element);
  return element;
}

// Whether the element had another text: a busy page leaves alone what has not changed.
function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

function cells(row, texts) {
  while (row.cells.length < texts.length) put(row, 'td', '', row.cells.length ? 'n' : 'name');
  texts.forEach((text, i) => say(row.cells[i], text));
}

function fill(table, rows, make) {
  const body = $(table).tBodies[0];
  while (body.rows.length > rows.length) body.lastElementChild.remove();
  while (body.rows.length < rows.length) put(body, 'tr');
  rows.forEach((one, i) => make(body.rows[i], one));
}

const labelText = labels => Object.entries(labels).map(([k, v]) => `${k}=${v}`).join('  ');
const keyOf = line => line.metric + '\n' + JSON.stringify(line.labels);
const colour = name => getComputedStyle(document.documentElement).getPropertyValue(name);

// ---- asking

async function lines(path) {
  const answer = await fetch(path, { cache: 'no-store', signal: AbortSignal.timeout(ANSWER_MS) });
  const text = await answer.text();
  if (!answer.ok) throw new Error(text.trim() || `status ${answer.status}`);
  return text.split('\n').filter(line => line !== '').map(line => JSON.parse(line));
}

function seriesPath(more) {
  return 'series?' + new URLSearchParams(Object.entries(more).map(([k, v]) => [k, String(v)]));
}

// ---- series

// What a sparkline shows of two looks that lie `seconds` apart, and what is said of now.
function current(line, before, seconds) {
  const counts = line.kind === 'counter' ? 'value' : 'count';
  if (line.kind === 'gauge' || line.kind === 'range sampler')
    return { point: line.value, now: amount(line.value, line.unit) };
  const grown = before ? line[counts] - before[counts] : NaN;
  const now = grown >= 0 && seconds > 0 ? grown / seconds : NaN;   // less: it began anew
  return { point: now, now: line.kind === 'counter' ? growth(now, line.unit) : rate(now) };
}

// A counter's growth in a second, in its unit: of processor time, say, 250 ms/s.
function growth(value, unit) {
  return Number.isFinite(value) ? amount(value, unit) + '/s' : '–';
}

function figures(line) {
  const minute = (line.windows || {})['1m'] || {};
  switch (line.kind) {
    case 'counter':
      return [growth(minute.rate, line.unit), growth(minute.peak, line.unit), '',
              amount(line.value, line.unit)];
    case 'gauge':
      return ['', '', '', ''];
    case 'range sampler':
      return [amount(minute.avg, line.unit), amount(minute.max, line.unit), '', ''];
    default:
      return [amount(minute.avg, line.unit), amount(minute.max, line.unit),
              amount((line.quantiles || {})['0.99'], line.unit), digits(line.count)];
  }
}

function spark(canvas, points) {
  const pen = canvas.getContext('2d'), { width, height } = canvas;
  pen.clearRect(0, 0, width, height);
  const known = points.filter(Number.isFinite);
  if (known.length < 2) return;
  const low = Math.min(0, ...known), high = Math.max(...known, low + 1e-9);
  pen.strokeStyle = colour('--mark');
  pen.lineWidth = 2;
  pen.beginPath();
  let down = false;
  points.forEach((point, i) => {
    if (!Number.isFinite(point)) { down = false; return; }
    const x = width - (points.length - i) * width / POINTS;
    const y = height - 2 - (point - low) / (high - low) * (height - 4);
    if (down) pen.lineTo(x, y); else pen.moveTo(x, y);
    down = true;
  });
  pen.stroke();
}

function seriesRow(row, key) {
  const one = seen.get(key), line = one.line;
  if (row.cells.length === 0) {
    const name = put(row, 'td');
    put(name, 'div', '', 'name');
    put(name, 'div', '', 'labels');
    const canvas = put(put(row, 'td'), 'canvas');
    canvas.width = 240;
    canvas.height = 44;
    for (let i = 0; i < 5; i++) put(row, 'td', '', 'n');
  }
  row.dataset.key = key;
  row.setAttribute('aria-selected', String(key === chosen));
  say(row.cells[0].children[0], line.metric);
  say(row.cells[0].children[1], labelText(line.labels));
  [one.now, ...figures(line)].forEach((text, i) => say(row.cells[i + 2], text));
  spark(row.cells[1].firstElementChild, one.points);
}

function takeSeries(answer, at) {
  const [head, ...all] = answer, shown = new Set();
  for (const line of all) {
    const key = keyOf(line), one = seen.get(key) || { points: [] };
    shown.add(key);
    const { point, now } = current(line, one.line, (at - one.at) / 1000);
    Object.assign(one, { line, now, at });
    one.points.push(point);
    if (one.points.length > POINTS) one.points.shift();
    seen.set(key, one);
  }
  for (const key of seen.keys()) if (!shown.has(key)) seen.delete(key);
  fill('series', [...shown], seriesRow);
  view.matching = head.matching;
  $('none').hidden = head.matching > 0;
  const last = Math.min(view.from + all.length, head.matching);
  say($('pages'), head.matching > PAGE ? `${view.from + 1} to ${last} of ${head.matching}`
                                       : String(head.matching));
  $('before').disabled = view.from === 0;
  $('next').disabled = view.from + PAGE >= head.matching;
}

// ---- the head, and reporters

function takeHead(head) {
  const name = [head.service, head.instance].filter(text => text !== '').join(' · ');
  say($('node'), name || `process ${head.pid}`);
  document.title = (name || 'Crest') + ' – Crest';
  const when = new Date(Math.floor(head.time_ns / 1e6)).toLocaleTimeString();
  const version = head.version === '' ? '' : `version ${head.version}, `;
  say($('about'), `${version}process ${head.pid}, ${head.series} series, ${when}`);
  fill('reporters', head.reporters, (row, one) => {
    const bad = one.consecutive_failures > 0;
    cells(row, [one.name, digits(one.reports), digits(one.failures), bad
      ? `${one.consecutive_failures} failed in a row: ${one.last_error}`
      : one.reports === 0 ? 'serves, or has not reported yet' : 'good']);
    row.cells[3].className = bad ? 'warn' : '';
  });
}

// ---- in flight

async function askFlight() {
  const ends = ['.in-flight', '.oldest', '.stuck'], timers = new Map();
  const [, ...all] = await lines(seriesPath({ flight: 1, most: 2000 }));
  for (const line of all.filter(one => one.kind === 'gauge')) {
    const labels = { ...line.labels }, { op } = labels;
    const end = ends.find(text => line.metric.endsWith(text)), name = line.metric.slice(0, -end.length);
    if (end === '.stuck') delete labels.op;
    const key = name + JSON.stringify(labels), one = timers.get(key) || { name, labels, stuck: [] };
    timers.set(key, one);
    if (end === '.in-flight') one.count = line.value;
    if (end === '.oldest') one.oldest = amount(line.value, line.unit);
    if (end === '.stuck' && line.value > 0) one.stuck.push(`${op} (${amount(line.value, line.unit)})`);
  }
  const rows = [...timers.values()].filter(one => one.count !== undefined);
  $('flight-box').hidden = rows.length === 0;
  fill('flight', rows, (row, one) => {
    cells(row, [`${one.name}  ${labelText(one.labels)}`, digits(one.count),
                one.count > 0 ? one.oldest || '' : '', one.stuck.join(', ')]);
    row.cells[3].className = 'name' + (one.stuck.length > 0 ? ' warn' : '');
  });
}

// ---- spans

async function askSpans() {
  const traces = new Map();
  for (const span of await lines('spans')) {
    const one = traces.get(span.traceId) || { spans: [] };
    one.spans.push(span);
    traces.set(span.traceId, one);
  }
  const words = view.search.toLowerCase().split(' ').filter(word => word !== '');
  const named = (root, id) => `${root.operation || ''} ${root.name} ${id}`.toLowerCase();
  const rows = [...traces]
    .map(([id, { spans }]) => ({ id, spans, root: spans.find(one => !one.parentSpanId) || spans[0] }))
    .filter(({ id, root }) => words.every(word => named(root, id).includes(word)))
    .sort((a, b) => tookNs(b.root) - tookNs(a.root)).slice(0, OPERATIONS);
  $('ops-box').hidden = traces.size === 0;
  fill('ops', rows, (row, { id, spans, root }) => {
    cells(row, [root.operation || id, root.name, duration(tookNs(root)), root.kept,
                String(spans.length)]);
    row.cells[1].className = row.cells[3].className = 'name';
    row.dataset.trace = id;
    row.setAttribute('aria-selected', String(id === trace));
  });
  waterfall(rows.find(one => one.id === trace));
}

const tookNs = span => span.endTimeUnixNano - span.startTimeUnixNano;

// Parents before children, each with its depth. A parent that is not there, or a circle, makes a
// span one of the first.
function inOrder(spans) {
  const ids = new Set(spans.map(span => span.spanId)), under = new Map(), rows = [];
  for (const span of spans) {
    const parent = ids.has(span.parentSpanId) ? span.parentSpanId : '';
    under.set(parent, [...(under.get(parent) || []), span]);
  }
  const placed = new Set();
  const place = (span, depth) => {
    if (placed.has(span)) return;
    placed.add(span);
    rows.push({ span, depth });
    const early = (a, b) => a.startTimeUnixNano - b.startTimeUnixNano;
    for (const child of (under.get(span.spanId) || []).sort(early)) place(child, depth + 1);
  };
  for (const span of under.get('') || []) place(span, 0);
  for (const span of spans) place(span, 0);
  return rows;
}

function waterfall(one) {
  const box = $('fall');
  box.hidden = !one;
  box.replaceChildren();
  if (!one) return;
  const from = Math.min(...one.spans.map(span => span.startTimeUnixNano));
  const to = Math.max(...one.spans.map(span => span.endTimeUnixNano), from + 1);
  for (const { span, depth } of inOrder(one.spans).slice(0, 500)) {
    const step = put(box, 'div', undefined, 'step');
    put(step, 'span', ' '.repeat(2 * depth) + span.name, 'name').title = span.name;
    const picture = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
    const bar = document.createElementNS('http://www.w3.org/2000/svg', 'rect');
    bar.setAttribute('x', `${(span.startTimeUnixNano - from) / (to - from) * 100}%`);
    bar.setAttribute('width', `${Math.max(tookNs(span) / (to - from) * 100, 0.3)}%`);
    bar.setAttribute('height', '14');
    if (span.outcome !== 'ok') bar.setAttribute('class', 'bad');
    picture.append(bar);
    step.append(picture);
    put(step, 'span', duration(tookNs(span)), 'n');
  }
}

// ---- one series: its windows, and how its values were spread

function detailRows(line) {
  const windows = Object.entries(line.windows || {}), all = { ...line, covered_s: undefined };
  const measured = value => amount(value, line.unit);
  const often = value => line.kind === 'counter' ? growth(value, line.unit) : rate(value);
  const rows = [['covers', one => one.covered_s && duration(one.covered_s * 1e9)],
    ['events', one => digits(one.events ?? one.count ?? NaN).replace('–', '')],
    ['rate', one => one.rate !== undefined ? often(one.rate) : ''],
    ['peak', one => one.peak !== undefined ? often(one.peak) : ''],
    ['least', one => one.min !== undefined ? measured(one.min) : ''],
    ['average', one => one.avg !== undefined ? measured(one.avg) : ''],
    ['greatest', one => one.max !== undefined ? measured(one.max) : ''],
    ['slowest', one => one.slowest || ''],
    ...['0.5', '0.9', '0.95', '0.99', '0.999'].map(name =>
      [`p${Number((name * 100).toPrecision(4))}`,
       one => (one.quantiles || {})[name] !== undefined ? measured(one.quantiles[name]) : ''])];
  return { titles: ['', ...windows.map(([name]) => name), 'since the start'],
           rows: rows.map(([name, of]) => [name, ...[...windows.map(([, one]) => one), all]
             .map(one => String(of(one) ?? ''))]).filter(row => row.slice(1).some(Boolean)) };
}

function heatTake(line) {
  const now = new Map((line.buckets || []).map(([low, high, count]) => [low, { high, count }]));
  if (heat.before) {
    const column = [];
    for (const [low, { high, count }] of now) {
      const grown = count - (heat.before.get(low) || { count: 0 }).count;
      if (grown > 0) column.push([low, high, grown]);
    }
    heat.columns.push(column);
    if (heat.columns.length > HEAT_COLUMNS) heat.columns.shift();
  }
  heat.before = now;
}

function heatDraw(unit) {
  const canvas = $('heat'), pen = canvas.getContext('2d'), { width, height } = canvas;
  const all = heat.columns.flat();
  pen.clearRect(0, 0, width, height);
  say($('heat-low'), all.length ? amount(Math.min(...all.map(one => one[0])), unit) : '–');
  say($('heat-high'), all.length ? amount(Math.max(...all.map(one => one[1])), unit) : '–');
  if (all.length === 0) return;
  const low = Math.log2(Math.max(Math.min(...all.map(one => one[0])), 1));
  const high = Math.max(Math.log2(Math.max(...all.map(one => one[1]), 2)), low + 1);
  const most = Math.max(...all.map(one => one[2]));
  const rowOf = value => Math.min(HEAT_ROWS - 1, Math.max(0, Math.floor(
    (Math.log2(Math.max(value, 1)) - low) / (high - low) * HEAT_ROWS)));
  pen.fillStyle = colour('--mark');
  heat.columns.forEach((column, i) => {
    const x = width - (heat.columns.length - i) * width / HEAT_COLUMNS;
    for (const [from, to, count] of column) {
      const bottom = rowOf(from), top = Math.max(rowOf(to), bottom);
      pen.globalAlpha = 0.15 + 0.85 * Math.log1p(count) / Math.log1p(most);
      pen.fillRect(x, height - (top + 1) * height / HEAT_ROWS, Math.ceil(width / HEAT_COLUMNS),
                   (top - bottom + 1) * height / HEAT_ROWS);
    }
  });
  pen.globalAlpha = 1;
}

async function askDetail() {
  const key = chosen, one = seen.get(key);
  $('detail-box').hidden = key === null;
  if (key === null) return;
  const name = key.slice(0, key.indexOf('\n'));
  const [, ...all] = await lines(seriesPath({ name, buckets: 1, most: 2000 }));
  const line = all.find(each => keyOf(each) === key) || (one && one.line);
  if (!line || key !== chosen) return;
  if (heat.key !== key) Object.assign(heat, { key, before: null, columns: [] });
  heatTake(line);
  say($('detail-name'), `${line.metric}, a ${line.kind}${line.unit ? ' in ' + line.unit : ''}`);
  say($('detail-labels'), labelText(line.labels));
  $('heat-box').hidden = line.kind !== 'timer' && line.kind !== 'histogram';
  heatDraw(line.unit);
  const { titles, rows } = detailRows(line), head = $('detail').tHead;
  head.replaceChildren();
  const top = put(head, 'tr');
  titles.forEach((text, i) => put(top, 'th', text, i ? 'n' : ''));
  fill('detail', rows, cells);
}

// ---- looking again and again

async function look() {
  const at = performance.now();
  const answer = await lines(seriesPath({ search: view.search, own: Number(view.own),
                                          from: view.from, most: PAGE }));
  takeHead(answer[0]);
  takeSeries(answer, at);
  await askDetail();
  if (looks % FLIGHT_EVERY === 0) await askFlight();
  if (looks % SPANS_EVERY === 0) await askSpans();
  looks++;
  lastAnswer = Date.now();
}

async function turn() {
  const began = performance.now();
  try {
    if (!view.paused) await look();
    $('lost').hidden = true;
  } catch (error) {
    const since = lastAnswer ? `; what is shown is of ${new Date(lastAnswer).toLocaleTimeString()}`
                             : '';
    say($('lost'), `The node does not answer (${error.message})${since}. Asking again.`);
    $('lost').hidden = false;
  }
  setTimeout(turn, Math.max(100, SECOND_MS - (performance.now() - began)));
}

// ---- what people do

function choose(key) {
  chosen = key === chosen ? null : key;
  $('detail-box').hidden = chosen === null;
  for (const row of $('series').tBodies[0].rows)
    row.setAttribute('aria-selected', String(row.dataset.key === chosen));
  askDetail().catch(() => {});
}

function move(by) {
  const rows = $('series').tBodies[0].rows;
  if (rows.length === 0) return;
  cursor = Math.min(rows.length - 1, Math.max(0, cursor + by));
  rows[cursor].tabIndex = -1;
  rows[cursor].focus();
}

function page(by) {
  const from = view.from + by * PAGE;
  if (from >= 0 && from < Math.max(view.matching, 1)) view.from = from;
}

function press(id, name) {
  view[name] = !view[name];
  view.from = 0;
  $(id).setAttribute('aria-pressed', String(view[name]));
}

function theme() {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === 'dark'
                                  : matchMedia('(prefers-color-scheme: dark)').matches;
  root.dataset.theme = dark ? 'light' : 'dark';
}

const keys = {
  '/': () => $('search').focus(), o: () => press('own', 'own'), p: () => press('pause', 'paused'),
  t: theme, n: () => page(1), b: () => page(-1), j: () => move(1), k: () => move(-1),
  ArrowDown: () => move(1), ArrowUp: () => move(-1), Escape: () => chosen !== null && choose(chosen),
  Enter: () => {
    const row = $('series').tBodies[0].rows[cursor];
    if (row && document.activeElement === row) choose(row.dataset.key);
  },
};

addEventListener('keydown', event => {
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  if (event.target === $('search')) {
    if (event.key === 'Escape') $('search').blur();
    return;
  }
  if (event.target.tagName === 'BUTTON' && event.key === 'Enter') return;
  if (!Object.hasOwn(keys, event.key)) return;
  event.preventDefault();
  keys[event.key]();
});

$('search').addEventListener('input', () => {
  view.search = $('search').value;
  view.from = 0;
});
$('own').addEventListener('click', keys.o);
$('pause').addEventListener('click', keys.p);
$('theme').addEventListener('click', theme);
$('next').addEventListener('click', keys.n);
$('before').addEventListener('click', keys.b);
$('series').addEventListener('click', event => {
  const row = event.target.closest('tbody tr');
  if (row) choose(row.dataset.key);
});
$('ops').addEventListener('click', event => {
  const row = event.target.closest('tbody tr');
  if (row) trace = row.dataset.trace === trace ? null : row.dataset.trace;
  askSpans().catch(() => {});
});
turn();
