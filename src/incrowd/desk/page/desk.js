// What all screens share; nothing is loaded from elsewhere.
export const $ = id => document.getElementById(id);
const number = new Intl.NumberFormat('en-US', { maximumFractionDigits: 2 });
export const N = x => number.format(x);
export const C = (n, what) => `${N(n)} ${what}${n === 1 ? '' : 's'}`;
export const P = x => (100 * x).toFixed(x && x < .1 ? 2 : 1) + ' %';
export const S = { table: null, state: { open: false }, figures: null };

const SHAPES = new Set(['svg', 'g', 'path', 'rect', 'circle', 'line', 'text', 'title']);
const cut = x => x.length > 200 && typeof x === 'string' ? x.slice(0, 199) + '…' : x;
/** What is inside is text, never markup; long names and cells are cut. */
export function h(tag, given = {}, ...inside) {
  const made = SHAPES.has(tag) ? document.createElementNS('http://www.w3.org/2000/svg', tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(given)) {
    if (value == null || value === false) continue;
    if (name.startsWith('on')) made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value === true ? '' : value);
  }
  if (given.onclick) made.type = 'button';
  inside = inside.flat(9).filter(x => x != null && x !== false);
  made.append(.../^(p|pre|div|textarea)$/.test(tag) ? inside : inside.map(cut));
  return made;
}
const of = (tag, given) => (...inside) => h(tag, given, ...inside);
export const [lead, note, soft, small] = ['lead', 'note', 'soft', 'soft small'].map(name => of('p', { class: name })), [h1, h2, label, td, tr] = ['h1', 'h2', 'label', 'td', 'tr'].map(tag => of(tag)), why = of('div', { class: 'why' });
export const num = of('td', { class: 'num' }), rowhead = of('th', { scope: 'row' }), inline = of('div', { class: 'row' }), hidden = of('span', { class: 'hidden' }), grow = of('span', { class: 'grow' }), aside = of('span', { class: 'soft small' }), pale = of('td', { class: 'num soft' }), pulse = of('span', { class: 'pulse' }), alarm = of('p', { class: 'note', role: 'alert' });
export const badge = (text, kind = '') => h('span', { class: 'badge ' + kind }, text);
export const button = (text, onclick, given) => h('button', { onclick, ...given }, text);
export const section = (id, label, ...inside) => h('section', { class: 'card', id, 'aria-label': label }, ...inside), card = (title, ...inside) => section(null, title, h2(title), ...inside);
export const colhead = (text, number) => h('th', { scope: 'col', class: number ? 'num' : null }, text);
export const table = (caption, heads, body, given) => h('table', given, h('caption', { class: 'hidden' }, caption), heads && h('thead', {}, tr(heads)), h('tbody', {}, body));
export const form = (go, ...inside) => h('form', { class: 'row', onsubmit: e => { e.preventDefault(); go(); } }, ...inside);
export const tick = (given, ...inside) => h('label', { class: 'tick' }, h('input', { type: 'checkbox', ...given }), ...inside);
export const among = (all, now) => all.map(([value, text]) => h('option', { value, selected: value === now }, text));
export const fill = (at, ...inside) => at.replaceChildren(...inside.flat(9).filter(Boolean));
export const field = (id, label, small, ...inside) => h('div', { class: 'field' }, h('label', { for: id }, label + ' ', h('small', {}, small)), ...inside);
export const entry = (id, label, given) => [h('label', { for: id }, label), h('input', { id, ...given })];
export const region = label => ({ tabindex: 0, role: 'region', 'aria-label': label });
export const say = text => { $('live').textContent = ''; setTimeout(() => { $('live').textContent = text; }, 30); };

let token = sessionStorage.getItem('token');
const gone = yes => { $('gone').hidden = !yes; };
async function ask(path, body) {
  const head = { Authorization: 'Bearer ' + token, ...(body && { 'Content-Type': 'application/json' }) };
  let answer;
  try { answer = await fetch('/api/' + path, { method: body ? 'POST' : 'GET', headers: head, body: body && JSON.stringify(body) }); }
  catch (error) { gone(true); throw new Error('The desk does not answer.', { cause: error }); }
  gone(false);
  return answer;
}
// a column may be called constructor
const bare = (_, value) => value && !Array.isArray(value) && typeof value === 'object' ? Object.setPrototypeOf(value, null) : value;
export async function call(path, body) {
  const answer = await ask(path, body), found = JSON.parse(await answer.text(), bare);
  if (!answer.ok) throw Object.assign(new Error(found.error), { status: answer.status });
  return found;
}
let last;
export const change = (path, body = {}) => last = next(last, path, body);
async function next(before, path, body) {
  await before;
  try { S.state = await call(path, body); if (body) S.error = S.refused = ''; }
  catch (error) { S.error = error.message; S.refused = body; say(error.message); draw(); return false; }
  if (S.state.stale === false && !S.figures) await figures();
  draw();
  return true;
}
let counted;
export async function figures() {
  const turn = counted = {};
  if (!made()) { S.figures = null; return; }
  try { const found = await call('figures'); if (turn === counted) S.figures = found; } catch (error) { S.error = error.message; }
}
/** Show what a call tells: the last counts, half a word stays. */
export function latest(box, path, make) {
  const turn = box.turn = {}, put = inside => turn !== box.turn || (held.word && box.contains(document.activeElement) ? setTimeout(put, 300, inside) : kept(box, () => fill(box, inside())));
  call(path).then(found => put(() => make(found)), error => put(() => note(error.message)));
}

const SCREENS = {};
export function screen(id, name, make, live) { SCREENS[id] = { name, make, live }; }
export const here = (id = location.pathname.slice(1)) => id in SCREENS ? id : 'columns';
export function go(id) { history.pushState(null, '', '/' + id); S.error = S.refused = S.other = ''; draw(true); }
function bar() {
  $('file').textContent = S.table ? `${S.table.name} · ${C(S.table.rows, 'row')}` : '';
  fill($('nav'), Object.entries(SCREENS).map(([id, { name }], i) =>
    h('a', { href: '/' + id, title: 'Alt ' + (i + 1), 'aria-current': id === here() && S.state.open ? 'page' : null, onclick: e => { e.preventDefault(); go(id); } }, name)));
  for (const id of ['undo', 'redo']) $(id).disabled = !S.state[id];
  const form = $('form').value;
  $('said').className = form; $('said').textContent = S.state[form] ?? '';
}
// focus and marks stay
export function kept(root, build) {
  const at = document.activeElement, all = () => [...root.querySelectorAll('a,button,input,select,textarea,summary,[tabindex]')], i = all().indexOf(at);
  build();
  if (i < 0 || document.activeElement === at) return;
  let to = at.isConnected ? at : $(at.id) ?? [all()[i], ...all()].find(x => x?.isEqualNode(at)) ?? all()[i] ?? root;
  if (/text|number/.test(at.type) && to.id === at.id && to.value === at.value) to.replaceWith(to = at);
  to.focus({ preventScroll: true });
}
// a redraw waits for half a word, a held button or key (a list tells no end)
export const held = {};
let late;
for (const [what, ...all] of [['word', 'input', 'change', 'focusout'], ['hand', 'pointerdown', 'pointerup', 'pointercancel', 'keydown', 'keyup']])
  for (const on of all) addEventListener(on, e => { held[what] = /input|down/.test(on) && !e.target.closest('select') && Date.now(); if (late) { clearTimeout(late); late = setTimeout(draw, 30); } }, true);
export function error() { return S.error ? alarm(S.error) : null; }
export function draw(fresh) {
  bar();
  clearTimeout(late);
  late = !fresh && (held.word || Date.now() - held.hand < 2e3) && setTimeout(draw, 2e3);
  if (late) return SCREENS[here()].live?.();
  held.word = false;
  const { name, make } = SCREENS[here()], main = $('main'), top = main.scrollTop, open = S.state.open && !S.other;
  document.title = (open ? name : 'Open a table') + ' – incrowd desk';
  kept(main, () => fill(main, error(), open ? [make(), onward()] : S.opening()));
  main.scrollTop = fresh ? 0 : top;
  if (fresh) main.focus({ preventScroll: true });
}
function onward() {
  const all = Object.keys(SCREENS), at = all.indexOf(here()), to = all[at + 1];
  return to && (!at || made()) ? h('p', {}, button('Next: ' + SCREENS[to].name, () => go(to), { id: 'next', class: at ? null : 'main' })) : null;
}
export const made = () => S.state.job?.changed != null;
export const needs = () => [h1('No release yet'), lead('This screen shows a release. Make one first.'),
  button('To the release', () => go('release'), { class: 'main' })];
export const stale = () => S.state.stale ? note('You have changed what is asked since: this release was made before. ',
  button('Make it anew', () => go('release'), { class: 'link' })) : null;

let watching = false;
export async function watch() {
  if (watching) return;
  watching = true;
  let told = 0, before = S.state.job?.state;
  try {
    const reader = (await ask('events')).body.pipeThrough(new TextDecoderStream()).getReader();
    for (let rest = ''; ;) {
      const { value, done } = await reader.read();
      if (done) break;
      const lines = (rest + value).split('\n');
      rest = lines.pop();
      if (!lines.length) continue;
      const news = JSON.parse(lines.at(-1));
      if (news.error) { S.error = news.error; break; }
      Object.assign(S.state, news);
      const job = S.state.job;
      if (before === 'running' && job?.state !== 'running') { before = job?.state; await ended(); continue; }
      SCREENS[here()].live?.();
      if (job?.state === 'running' && job.cost && Date.now() - told > 5000) { told = Date.now(); say(`${job.stage}: cost ${N(job.cost)}, at least ${N(job.bound ?? 0)}`); }
    }
  } catch { await new Promise(r => setTimeout(r, 1500)); watching = false; return watch(); }
  watching = false;
  if (!await change('state', null)) return;
  if (before === 'running') await ended();
}
async function ended() {
  S.figures = null;
  draw();
  await figures();
  const job = S.state.job;
  say(job?.state === 'done' ? `The release is done: cost ${N(job.cost)}, at least ${N(job.bound)}` : job?.error ?? '');
  draw();
}
export async function start(path, body) { if (await change(path, body)) watch(); }

async function enter(key) {
  const answer = await fetch('/api/enter', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ key }) });
  const found = await answer.json();
  if (!answer.ok) throw new Error(found.error);
  sessionStorage.setItem('token', token = found.token);
}
const running = () => ['job', 'sweep', 'attacks', 'study'].some(id => S.state[id]?.state === 'running');
export async function opened() {
  S.state = await call('state?table=1');
  S.table = S.state.table;
  S.figures = S.other = null;
  draw(true);
  await figures();
  if (S.figures) draw();
  if (running()) watch();
}
function notIn(message) {
  fill($('main'), h1('Not let in'), lead(message), lead('incrowd desk wrote a file that lets in once: open it, or paste its key here.'),
    form(async () => { try { await enter($('key').value.trim()); await opened(); } catch (error) { notIn(error.message); } },
      entry('key', 'Launch key', { type: 'password', autocomplete: 'off' }), button('Enter', null, { class: 'main' })));
}
const look = document.documentElement.dataset;
function theme(name) { look.theme = name; localStorage.setItem('theme', name); }
theme(localStorage.getItem('theme') ?? (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'));
$('theme').onclick = () => theme(look.theme === 'dark' ? 'light' : 'dark');
for (const id of ['undo', 'redo']) $(id).onclick = () => change(id);
$('file').onclick = () => { S.other = 1; draw(true); };
$('form').onchange = bar;
$('copy').onclick = () => navigator.clipboard?.writeText($('said').textContent).then(() => say('Copied'), () => say('Not copied: mark the text'));
addEventListener('popstate', () => draw(true, S.other = 0));
addEventListener('beforeunload', e => { if (running()) e.preventDefault(); });
addEventListener('keydown', e => {
  const typing = /INPUT|TEXTAREA|SELECT/.test(e.target.tagName) && !/checkbox|range/.test(e.target.type);
  if ((e.ctrlKey || e.metaKey) && e.key.toLowerCase() === 'z' && !typing) { e.preventDefault(); change(e.shiftKey ? 'redo' : 'undo'); }
  if (e.altKey && e.key >= '1' && e.key <= '6' && S.state.open) { e.preventDefault(); go(Object.keys(SCREENS)[e.key - 1]); }
});
setInterval(() => { if (token && document.visibilityState === 'visible' && !watching) ask('alive').catch(() => {}); }, 5000);

export async function begin() {
  const key = new URLSearchParams(location.hash.slice(1)).get('key');
  if (key) history.replaceState(null, '', location.pathname);
  try { if (key) await enter(key); await opened(); } catch (error) { error.status === 500 ? fill($('main'), h1('The desk is open, but fails'), note(error.message)) : notIn(error.message); }
}
