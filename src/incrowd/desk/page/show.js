// What was made: the table, risk and use, scenarios, publishing.
import '/ask.js';
import { $, N, P, S, begin, call, change, figures, h, needs, say, screen, stale, start } from '/desk.js';
import { crowds, distribution } from '/draw.js';

const made = () => S.state.job?.changed != null;
const table = (caption, heads, body) => h('table', {}, h('caption', { class: 'hidden' }, caption), h('thead', {}, h('tr', {}, heads.map((x, i) => h('th', { scope: 'col', class: i ? 'num' : null }, x)))), h('tbody', {}, body));
const card = (title, ...inside) => h('section', { class: 'card', 'aria-label': title }, h('h2', {}, title), ...inside);

// -- before and after, a page of rows at a time
const SIZE = 50, look = { start: 0, changed: '', class: '', column: '', value: '' };
function rows() {
  if (!made()) return needs();
  const box = h('div', { class: 'scroll tall', tabindex: 0, role: 'region', 'aria-label': 'Rows' }), where = h('span', { class: 'num', role: 'status', id: 'where' });
  const show = async () => {
    const asked = Object.entries(look).filter(([, v]) => v !== '' && v != null);
    let d;
    try { d = await call(`rows?count=${SIZE}&` + new URLSearchParams(asked)); } catch (error) { box.replaceChildren(h('p', { class: 'note' }, error.message)); return; }
    if (look.start >= d.total && d.total) { look.start = Math.floor((d.total - 1) / SIZE) * SIZE; return show(); }
    where.textContent = d.total ? `${N(look.start + 1)}–${N(Math.min(d.total, look.start + SIZE))} of ${N(d.total)} rows` : 'no such row';
    box.replaceChildren(h('table', { class: 'cells', 'aria-rowcount': d.total }, h('caption', { class: 'hidden' }, 'Rows before and after; a changed cell shows both'),
      h('thead', {}, h('tr', {}, h('th', { scope: 'col', class: 'num' }, 'row'), d.columns.map(n => h('th', { scope: 'col' }, n)), h('th', { scope: 'col', class: 'num' }, 'class'), h('th', { scope: 'col', class: 'num' }, 'its rows'))),
      h('tbody', {}, d.rows.map((id, i) => h('tr', {}, h('th', { scope: 'row', class: 'num soft' }, N(id + 1)), d.before[i].map((b, j) => cell(b, d.after[i][j])),
        h('td', { class: 'num' }, h('button', { class: 'link', type: 'button', 'aria-label': `Only class ${d.classes[i]}`, onclick: () => set({ class: d.classes[i] }) }, N(d.classes[i]))), h('td', { class: 'num soft' }, N(d.sizes[i])))))));
    box.scrollTop = 0;
  };
  const set = what => { Object.assign(look, { start: 0 }, what); const c = $('only'); if (c) c.hidden = look.class === ''; show(); };
  const turn = by => { look.start = Math.max(0, look.start + by * SIZE); show(); };
  const names = Object.entries(S.state.ask.roles).filter(([, r]) => r !== 'id' && r !== 'person').map(([n]) => n);
  const known = Object.keys(S.state.job.by_column);
  show();
  return [stale(), h('h1', {}, 'Before and after'), h('p', { class: 'lead' }, 'A changed cell shows what it was → what it is. These pages show the original: they are for you alone.'),
    h('div', { class: 'row' }, h('button', { type: 'button', onclick: () => turn(-1) }, 'Back'), h('button', { type: 'button', id: 'next', onclick: () => turn(1) }, 'Next'),
      h('label', {}, 'from row ', h('input', { type: 'number', min: 1, max: S.table.rows, id: 'from', onchange: e => { look.start = Math.max(0, e.target.value - 1); show(); } })), where),
    h('div', { class: 'row' }, h('label', {}, 'show ', h('select', { id: 'changed', onchange: e => set({ changed: e.target.value }) }, [['', 'all rows'], ['any', 'rows with a changed cell'], ...known.map(n => [n, `rows with ${n} changed`])].map(([v, t]) => h('option', { value: v, selected: v === look.changed }, t)))),
      h('label', {}, 'where ', h('select', { id: 'column', onchange: e => set({ column: e.target.value }) }, [['', 'any column'], ...names.map(n => [n, n])].map(([v, t]) => h('option', { value: v, selected: v === look.column }, t)))),
      h('label', {}, 'was ', h('input', { id: 'value', value: look.value, onchange: e => set({ value: e.target.value }) })),
      h('button', { type: 'button', id: 'only', hidden: look.class === '', onclick: () => set({ class: '' }) }, 'All classes')),
    h('div', { class: 'card' }, box)];
}
const missing = v => v ?? h('span', { class: 'soft' }, '(missing)');
function cell(before, after) {
  if (before === after) return h('td', {}, missing(before));
  return h('td', { class: 'changed' }, h('span', { class: 'hidden' }, 'was '), h('s', {}, missing(before)), h('span', { 'aria-hidden': 'true' }, ' → '), h('span', { class: 'hidden' }, ' is '), h('b', {}, after));
}

// -- risk and use
const signed = x => Math.abs(x) < .005 ? '0.00' : (x > 0 ? '+' : '−') + Math.abs(x).toFixed(2);
function use() {
  if (!made()) return needs();
  const f = S.figures;
  if (!f) { figures().then(() => S.figures && dispatchEvent(new PopStateEvent('popstate'))); return [h('h1', {}, 'Risk and use'), h('p', { class: 'lead' }, 'counting…')]; }
  const shown = (v, kind) => kind === 'rows' ? N(v) : P(v), V = v => v == null ? '–' : v.toFixed(2);
  return [stale(), h('h1', {}, 'What risk is left, and what use'), h('p', { class: 'lead' }, 'Risk: how well somebody who knows the columns that others may know finds a person. Use: what the release still tells about the whole.'), h('div', { class: 'many' },
    card('Risk', table('Risk before and after', ['figure', 'before', 'after'], f.risk.map(r => h('tr', {}, h('th', { scope: 'row' }, r.name, h('div', { class: 'why' }, r.meaning)), h('td', { class: 'num' }, shown(r.before, r.kind)), h('td', { class: 'num' }, shown(r.after, r.kind))))), population()),
    card('Rows by the size of their class', crowds(f)), attacks(),
    card('Which columns tell people apart', h('p', { class: 'soft small' }, 'Rows that are the only one with their values in these columns.'), table('Unique rows by columns', ['columns', 'before', 'after'], f.subsets.map(([names, b, a]) => h('tr', {}, h('th', { scope: 'row' }, names.join(' and ')), h('td', { class: 'num' }, N(b)), h('td', { class: 'num' }, N(a)))))),
    card('Which columns go together', h('p', { class: 'soft small' }, 'Cramér’s V: 0 is not at all, 1 is wholly.'), table('Associations before and after', ['pair', 'before', 'after', 'change'], f.pairs.slice(0, 12).map(([a, b, x, y]) => h('tr', {}, h('th', { scope: 'row' }, `${a} and ${b}`), h('td', { class: 'num' }, V(x)), h('td', { class: 'num' }, V(y)), h('td', { class: 'num' }, x == null || y == null ? '–' : signed(y - x)))))),
    study(), Object.entries(f.bars).map(([name, bars]) => card(name, distribution(bars))))];
}
function population() {
  return h('form', { class: 'row', onsubmit: async e => { e.preventDefault(); S.figures = null; await change('population', { path: $('people').value }); } },
    h('label', { for: 'people' }, 'Population ', h('span', { class: 'soft small' }, 'a table of everybody, for the journalist’s risk')), h('input', { id: 'people', value: S.state.population ?? '', placeholder: 'path of a table' }), h('button', {}, 'Compare'));
}
const running = work => h('p', {}, h('span', { class: 'pulse' }), `working · ${work.seconds} s`);
function attacks() {
  const work = S.state.attacks, head = h('p', { class: 'soft small' }, 'The release is attacked as its readers could, and each attack is made on people who are not in it as well: what it finds there is no risk.');
  const button = h('button', { type: 'button', id: 'attack', onclick: () => start('attack') }, 'Attack the release');
  const body = !work ? button : work.state === 'running' ? running(work) : work.state === 'failed' ? [h('p', { class: 'note' }, work.error), button]
    : [table('Attacks', ['attack', 'right', 'control', 'risk'], work.result.attacks.map(a => h('tr', {}, h('th', { scope: 'row' }, a.name + (a.column ? ` (${a.column})` : ''), h('div', { class: 'why' }, a.sentence)), h('td', { class: 'num' }, rate(a.rate)), h('td', { class: 'num' }, rate(a.control_rate)), h('td', { class: 'num' }, rate(a.risk))))), work.result.notes.map(n => h('p', { class: 'soft small' }, n))];
  return h('section', { class: 'card', id: 'attacks', 'aria-label': 'Attacks' }, h('h2', {}, 'Attacks'), head, body);
}
const rate = x => x == null ? '–' : P(Math.max(0, x));
function study() {
  const work = S.state.study, names = S.state.analyses, shown = v => typeof v === 'number' ? N(v) : v ?? '–';
  return h('section', { class: 'card', id: 'study', 'aria-label': 'Your own analysis' }, h('h2', {}, 'Your own analysis'),
    names.length ? names.map((n, i) => h('button', { type: 'button', onclick: () => start('study', { number: i }) }, 'Run ' + n)) : h('p', { class: 'soft small' }, 'Start the desk with --analysis FILE: a Python file with a function analyse(frame). It runs on the table and on the release, when you ask for it.'),
    !work ? null : work.state === 'running' ? running(work) : work.state === 'failed' ? h('p', { class: 'note' }, work.error)
      : table('Your figures before and after', ['figure', 'before', 'after'], work.result.map(([n, b, a]) => h('tr', {}, h('th', { scope: 'row' }, n), h('td', { class: 'num' }, shown(b)), h('td', { class: 'num' }, shown(a))))));
}
function live() { for (const [id, make] of [['attacks', attacks], ['study', study]]) $(id)?.replaceWith(make()); }

// -- compare
function compare() {
  const kept = S.state.kept, heads = ['scenario', 'changed cells', 'cost', 'at least', 'gap', 'classes', 'smallest', 'actions'];
  return [stale(), h('h1', {}, 'Scenarios side by side'), h('p', { class: 'lead' }, 'Keep a release here, ask for something else, and compare.'),
    h('p', { class: 'note' }, 'Publish one of them at most: who has two releases of the same people can intersect them.'),
    h('div', { class: 'row' }, h('button', { class: 'main', type: 'button', id: 'keep', disabled: !made(), onclick: () => change('keep') }, 'Keep the present release')),
    h('div', { class: 'card' }, kept.length ? table('Scenarios', heads, kept.map((s, i) => h('tr', {}, h('th', { scope: 'row' }, s.name), h('td', { class: 'num' }, P(s.cells ? s.changed / s.cells : 0)), h('td', { class: 'num' }, N(s.cost)), h('td', { class: 'num' }, N(s.bound)), h('td', { class: 'num' }, P(s.gap)), h('td', { class: 'num' }, N(s.classes)), h('td', { class: 'num' }, N(s.smallest)),
      h('td', { class: 'num' }, [['again', 'Ask again'], ['drop', 'Drop']].map(([what, text]) => h('button', { type: 'button', onclick: () => change(what, { number: i }) }, text, h('span', { class: 'hidden' }, ` (scenario ${i + 1})`))))))) : h('p', { class: 'soft' }, 'None is kept yet.')),
    h('form', { class: 'row', onsubmit: async e => { e.preventDefault(); if (await change('save', { folder: $('savefolder').value })) say('Saved'), $('saved').textContent = 'saved as ' + S.state.saved; } },
      h('label', { for: 'savefolder' }, 'Save the work in the folder'), h('input', { id: 'savefolder', size: 34, required: true }), h('button', {}, 'Save'), h('span', { class: 'soft small', id: 'saved' }, 'what is asked and the scenarios, no cell of the table'))];
}

// -- publish
function publish() {
  const state = S.state, outputs = S.table.outputs;
  const place = () => change('place', { folder: $('folder').value, names: Object.keys(outputs).filter(n => $('out-' + n).checked) });
  const go = async () => { S.written = null; if (await change('publish', { replace: $('replace').checked, another: $('another')?.checked ?? false })) { S.written = S.state.written; say('Written'); $('written').textContent = 'Written: ' + S.written.join(', '); } };
  return [stale(), h('h1', {}, 'Publish'), h('p', { class: 'lead' }, 'Files appear whole or not at all, and the release is read back before it gets its name. What is private can undo the release, or tells of the original: keep it in the house.'),
    (state.job?.warnings ?? []).map(w => h('p', { class: 'note' }, w + '.')),
    h('div', { class: 'two' }, h('section', { class: 'card ask', 'aria-label': 'Files' }, h('h2', {}, 'Files'),
      h('div', {}, h('label', { for: 'folder' }, 'Folder ', h('small', {}, 'it is made if it is not there')), h('input', { id: 'folder', size: 40, value: state.folder, onchange: place })),
      h('div', { class: 'outputs' }, Object.entries(outputs).map(([id, o]) => h('label', { class: 'tick' }, h('input', { type: 'checkbox', id: 'out-' + id, checked: state.names.includes(id), disabled: id === 'release', onchange: place }), h('b', {}, o.name), h('small', { class: 'grow' }, o.what), h('span', { class: o.public ? 'badge good' : 'badge warn' }, o.public ? 'may leave the house' : 'private')))),
      h('label', { class: 'tick' }, h('input', { type: 'checkbox', id: 'replace' }), 'replace files that are there'),
      state.published.length ? h('label', { class: 'tick' }, h('input', { type: 'checkbox', id: 'another' }), 'I know that another release of these people was published') : null,
      h('div', { class: 'row' }, h('button', { class: 'main', type: 'button', id: 'publish', disabled: !made() || state.stale || !state.folder, onclick: go }, 'Write the files'), !made() ? h('span', { class: 'badge warn' }, 'no release yet') : !state.folder ? h('span', { class: 'soft small' }, 'name a folder first') : null),
      h('p', { id: 'written', role: 'status' }, S.written ? 'Written: ' + S.written.join(', ') : '')),
    h('section', { class: 'card', 'aria-label': 'policy.toml' }, h('h2', {}, 'policy.toml'), h('pre', { tabindex: 0, role: 'region', 'aria-label': 'The policy file' }, state.policy)))];
}
screen('table', 'Table', rows);
screen('use', 'Risk and use', use, live);
screen('compare', 'Compare', compare);
screen('publish', 'Publish', publish);
await begin();
