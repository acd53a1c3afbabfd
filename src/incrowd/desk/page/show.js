// What was made.
import '/ask.js';
import { $, C, N, P, S, among, aside, badge, begin, button, card, change, colhead, draw, entry, field, figures, form, h, h1, h2, hidden, inline, label, latest, lead, made, needs, note, num, pale, pulse, region, rowhead, say, screen, section, small, soft, stale, start, table, td, tick, tr, why } from '/desk.js';
import { crowds, distribution } from '/draw.js';

const compared = (caption, heads, body) => table(caption, heads.map(colhead), body);

const SIZE = 50, look = { start: 0, changed: '', class: '', column: '', value: '' };
function rows() {
  if (!made()) return needs();
  const box = h('div', { class: 'scroll tall', ...region('Rows') }), where = h('span', { class: 'num', role: 'status', id: 'where' });
  const asked = () => new URLSearchParams(Object.entries(look).filter(([, v]) => v !== '' && v != null));
  const show = () => latest(box, `rows?count=${SIZE}&` + asked(), d => {
    if (look.start >= d.total && d.total) { look.start = Math.floor((d.total - 1) / SIZE) * SIZE; show(); return []; }
    where.textContent = d.total ? `${N(look.start + 1)}–${N(Math.min(d.total, look.start + SIZE))} of ${C(d.total, 'row')}` : 'no such row';
    box.scrollTop = 0;
    return table('Rows before and after; a changed cell shows both', [colhead('row', 1), d.columns.map(n => colhead(n)), colhead('class', 1), colhead('its rows', 1)],
      d.rows.map((id, i) => tr(h('th', { scope: 'row', class: 'num soft' }, N(id + 1)), d.before[i].map((b, j) => cell(b, d.after[i][j])),
        num(h('button', { class: 'link', 'aria-label': `Only class ${d.classes[i]}`, onclick: () => { set({ class: d.classes[i] }); $('only').focus(); } }, N(d.classes[i]))), pale(N(d.sizes[i])))), { class: 'cells', 'aria-rowcount': d.total });
  });
  const set = what => { Object.assign(look, { start: 0 }, what); const c = $('only'); if (c) c.hidden = look.class === ''; show(); };
  const pick = (id, all) => h('select', { id, onchange: e => set({ [id]: e.target.value }) }, among(all, look[id]));
  const turn = by => { look.start = Math.max(0, look.start + by * SIZE); show(); };
  const names = Object.entries(S.state.ask.roles).filter(([, r]) => r !== 'id' && r !== 'person').map(([n]) => n);
  const known = Object.keys(S.state.job.by_column);
  show();
  return [stale(), h1('Before and after'), lead('A changed cell shows what it was → what it is. These pages show the original: they are only for you.'),
    inline(button('Back', () => turn(-1)), button('Next', () => turn(1)),
      label('from row ', h('input', { type: 'number', min: 1, max: S.table.rows, id: 'from', onchange: e => { look.start = Math.max(0, e.target.value - 1); show(); } })), where),
    inline(label('show ', pick('changed', [['', 'all rows'], ['any', 'rows with a changed cell'], ...known.map(n => [n, `rows with ${n} changed`])])),
      label('where ', pick('column', [['', 'any column'], ...names.map(n => [n, n])])),
      label('was ', h('input', { id: 'value', value: look.value, onchange: e => set({ value: e.target.value }) })),
      button('All classes', () => { set({ class: '' }); box.focus(); }, { id: 'only', hidden: look.class === '' })),
    h('div', { class: 'card' }, box)];
}
const missing = v => v ?? h('span', { class: 'soft' }, '(missing)');
function cell(before, after) {
  if (before === after) return td(missing(before));
  return h('td', { class: 'changed' }, hidden('was '), h('s', {}, missing(before)), h('span', { 'aria-hidden': 'true' }, ' → '), hidden(' is '), h('b', {}, after));
}

const signed = x => Math.abs(x) < .005 ? '0.00' : (x > 0 ? '+' : '−') + Math.abs(x).toFixed(2);
function use() {
  if (!made()) return needs();
  const f = S.figures;
  if (!f) { if (!S.error) figures().then(() => draw()); return [h1('Risk and use'), !S.error && lead('counting…'), population()]; }
  const shown = (v, kind) => kind === 'rows' ? N(v) : P(v), V = v => v == null ? '–' : v.toFixed(2);
  return [stale(), h1('What risk is left, and what use'), lead('Risk: how easily somebody who knows the columns that others may know finds a person. Use: what the release still tells about the whole table.'), h('div', { class: 'many' },
    card('Risk', compared('Risk before and after', ['figure', 'before', 'after'], f.risk.map(r => tr(rowhead(r.name, why(r.meaning)), num(shown(r.before, r.kind)), num(shown(r.after, r.kind))))), population()),
    card((f.people == null ? 'Rows' : 'People') + ' by the size of their class', f.people && small(`${N(f.people)} people; each counts in every class that holds rows of this person.`), crowds(f)), attacks(),
    card('Which columns tell people apart', small('Rows that alone have their values in these columns.'), compared('Unique rows by columns', ['columns', 'before', 'after'], f.subsets.map(([names, b, a]) => tr(rowhead(names.join(' and ')), num(N(b)), num(N(a)))))),
    card('Which columns go together', small('Cramér’s V: 0 is not at all, 1 is completely.'), compared('Associations before and after', ['pair', 'before', 'after', 'change'], f.pairs.slice(0, 12).map(([a, b, x, y]) => tr(rowhead(`${a} and ${b}`), num(V(x)), num(V(y)), num(x == null || y == null ? '–' : signed(y - x)))))),
    study(), Object.entries(f.bars).map(([name, bars]) => card(name, distribution(bars))))];
}
function population() {
  return form(async () => { if (await change('population', { path: $('people').value })) S.figures = null, draw(); },
    named('people', 'Population', 'a table of everybody, for the journalist’s risk', S.state.population), button('Compare'));
}
const named = (id, label, why, value) => entry(id, [label + ' ', aside(why)], { value, placeholder: 'path of a table' });
const worked = (work, again, made) => !work ? again : work.state === 'running' ? h('p', {}, pulse(), `working · ${work.seconds} s`) : [work.state === 'failed' ? note(work.error) : made(work.result), again];
function attacks() {
  const work = S.state.attacks, head = small('The release is attacked as its readers could. What an attack also finds about people who are not in it is no risk.');
  const again = form(() => start('attack', { register: S.register = $('register').value }),
    named('register', 'Register', 'if there is one: people whom somebody knows in part', S.register), button('Attack the release', null, { id: 'attack' }));
  return section('attacks', 'Attacks', h2('Attacks'), head, worked(work, again, found =>
    [compared('Attacks', ['attack', 'right', 'control', 'risk'], found.attacks.map(a => [tr(rowhead(a.name + (a.column ? ` (${a.column})` : '')), ['rate', 'control_rate', 'risk'].map(x => num(rate(a[x])))), tr(h('td', { colspan: 4 }, why(a.sentence)))])), found.notes.map(n => small(n))]));
}
const rate = x => x == null ? '–' : P(Math.max(0, x));
function study() {
  const work = S.state.study, names = S.state.analyses, shown = v => typeof v === 'number' ? N(v) : v ?? '–';
  return section('study', 'Your own analysis', h2('Your own analysis'),
    names.length ? names.map((n, i) => button('Run ' + n, () => start('study', { number: i }))) : small('Start the desk with --analysis FILE, a Python file with a function analyse(frame): it runs on the table and the release.'),
    worked(work, null, found => compared('Your figures before and after', ['figure', 'before', 'after'], found.map(([n, b, a]) => tr(rowhead(n), num(shown(b)), num(shown(a)))))));
}
function live() { for (const [id, make] of [['attacks', attacks], ['study', study]]) $(id)?.replaceWith(make()); }

function compare() {
  const kept = S.state.kept, heads = ['scenario', 'changed cells', 'cost', 'at least', 'gap', 'classes', 'smallest', 'actions'];
  return [stale(), h1('Scenarios side by side'), lead('Keep a release here, ask for something else, and compare.'),
    note('Publish one of them at most: who has two releases of the same people can intersect them.'),
    inline(button('Keep the present release', () => change('keep'), { class: 'main', id: 'keep', disabled: !made() })),
    h('div', { class: 'card' }, kept.length ? compared('Scenarios', heads, kept.map((s, i) => tr(rowhead(s.name), num(P(s.cells ? s.changed / s.cells : 0)), num(N(s.cost)), num(N(s.bound)), num(P(s.gap)), num(N(s.classes)), num(N(s.smallest)),
      num([['again', 'Ask again'], ['drop', 'Drop']].map(([what, text]) => button([text, hidden(` (scenario ${i + 1})`)], () => change(what, { number: i }))))))) : soft('None is kept yet.')),
    form(async () => { if (await change('save', { folder: $('savefolder').value })) say('Saved'), $('saved').textContent = 'saved as ' + S.state.saved; },
      entry('savefolder', 'Save the work in the folder', { size: 34, required: true }), button('Save'), h('span', { class: 'soft small', id: 'saved' }, 'what is asked and the scenarios, no row of the table'))];
}

function publish() {
  const state = S.state, outputs = S.table.outputs;
  const place = () => change('place', { folder: $('folder').value, names: Object.keys(outputs).filter(n => $('out-' + n).checked) });
  const go = async () => { S.written = null; $('written').textContent = 'Writing…'; if (await change('publish', { replace: $('replace').checked, another: $('another')?.checked ?? false })) { S.written = S.state.written; say('Written'); draw(); } };
  return [stale(), h1('Publish'), lead('Files appear whole or not at all, and the release is read back before it gets its name. What is private can undo the release, or tells of the original: keep it in the house.'),
    (state.job?.warnings ?? []).map(w => note(w + '.')),
    h('div', { class: 'two' }, h('section', { class: 'card ask', 'aria-label': 'Files' }, h2('Files'),
      field('folder', 'Folder', 'it is made if it is not there', h('input', { id: 'folder', size: 40, value: state.folder, onchange: place })),
      h('div', { class: 'outputs' }, Object.entries(outputs).map(([id, o]) => tick({ id: 'out-' + id, checked: state.names.includes(id), disabled: id === 'release', onchange: place }, h('b', {}, o.name), h('small', { class: 'grow' }, o.what), o.public ? badge('may leave the house', 'good') : badge('private', 'warn')))),
      tick({ id: 'replace' }, 'replace files that are there'),
      state.published.length ? tick({ id: 'another' }, 'I know that another release of these people was published') : null,
      inline(button('Write the files', go, { class: 'main', id: 'publish', disabled: !made() || state.stale || !state.folder }), !made() ? badge('no release yet', 'warn') : !state.folder ? aside('name a folder first') : null),
      h('p', { id: 'written', role: 'status' }, S.written ? 'Written: ' + S.written.join(', ') : '')),
    card('policy.toml', h('pre', region('The policy file'), state.policy)))];
}
screen('table', 'Table', rows);
screen('use', 'Risk and use', use, live);
screen('compare', 'Compare', compare);
screen('publish', 'Publish', publish);
await begin();
