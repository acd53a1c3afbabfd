// What is asked.
import { $, C, N, P, S, alarm, among, aside, badge, button, call, card, change, colhead, draw, entry, field, fill, form, grow, h, h1, h2, hidden, inline, latest, lead, note, num, opened, pale, pulse, region, rowhead, say, screen, section, soft, start, table, td, tick, tr, why } from '/desk.js';
import { crowds, curve, trace } from '/draw.js';

let folder = '', typed = {};
S.opening = () => {
  const list = h('div', { class: 'card', 'aria-label': 'Files', role: 'region' }, 'reading…');
  const open = async (path, body) => { typed = { path: $('path').value, policy: $('policy').value }; try { await call(path, body); S.error = folder = ''; await opened(); } catch (error) { S.error = error.message; draw(); } };
  const at = path => open('open', { path, policy: $('policy').value });
  const look = where => latest(list, 'files?folder=' + encodeURIComponent(where), found => {
    folder = found.folder;
    const to = (name, label) => h('li', {}, button(label, () => look(name)));
    return [h2(found.folder), h('ul', { class: 'picker' }, found.above ? to(found.above, '↑ the folder above') : null,
      found.folders.map(name => to(found.folder + '/' + name, '▸ ' + name)),
      found.tables.map(name => h('li', {}, button(h('b', {}, name), () => at(found.folder + '/' + name))))),
      found.tables.length ? null : soft('No table in this folder.')];
  });
  look(folder);
  return [h1('Which table is to be published?'), lead('CSV, Excel, Parquet, Arrow, SPSS, Stata or SAS. It is only read, and nothing of it leaves this machine.'), S.other && note('What you have not saved will be lost.'),
    form(() => at($('path').value), entry('path', 'Path', { size: 50, value: typed.path }),
      entry('policy', ['Policy file ', aside('if there is one; it can ask for more than this page')], { size: 30, value: typed.policy }), button('Open', null, { class: 'main' })),
    list, form(() => open('load', { folder: $('work').value }),
      entry('work', 'Or work saved in the folder', { size: 30 }), button('Open the work'))];
};

const ROLES = { qi: 'others may know it', sensitive: 'sensitive', keep: 'publish as it is', id: 'leave out', person: 'names a person' };
let shown = null;  // column
const roles = () => S.state.ask.roles, further = () => S.state.ask.further;
const ruled = name => roles()[name] === 'qi' || (roles()[name] === 'sensitive' && S.state.ask.rules[name]);
function columns() {
  const count = role => Object.values(roles()).filter(x => x === role).length;
  return [h1('What may others know about a person?'),
    lead('Each role is a guess, with its reason. incrowd cannot see what neighbours, employers or other tables know: check every line. ',
      h('b', {}, `${count('qi')} may be known, ${count('sensitive')} sensitive, ${count('keep')} published as they are, ${count('id') + count('person')} left out.`)),
    h('div', { class: 'card' }, table('Columns with role, values, hierarchy and reason', ['Column', 'Role', 'Values', 'Becomes more general by', 'Why this guess'].map(x => colhead(x)), S.table.columns.map(line)))];
}
function line(c, i) {
  const role = roles()[c.name], own = S.state.ask.own[c.name], is = shown === c.name;
  const toggle = () => { shown = is ? null : c.name; draw(); };
  return [h('tr', { class: is ? 'open' : null }, rowhead(c.name || soft('(no name)')),
    td(h('select', { id: 'role' + i, 'aria-label': 'Role of ' + c.name, onchange: e => change('ask', { roles: { [c.name]: e.target.value } }) },
      among(Object.entries(ROLES), role)), role === c.guess ? null : [' ', badge('yours')]),
    td(inline(spark(c), aside(`${N(c.distinct)} different`, c.missing ? h('span', {}, `${N(c.missing)} missing`) : null))),
    td(ruled(c.name) || role === 'qi' ? inline(own ? badge(S.state.ask.rules[c.name] ? 'your order' : 'your groups')
      : h('input', { id: 'rule' + i, class: 'rule', spellcheck: 'false', 'aria-label': 'Rule or file of ' + c.name, placeholder: 'suppressed whole', value: S.refused?.rules?.[c.name] ?? S.state.ask.rules[c.name] ?? '', onchange: e => change('ask', { rules: { __proto__: null, [c.name]: e.target.value } }) }),
      h('button', { id: 'levels' + i, 'aria-expanded': String(is), onclick: toggle }, is ? 'Close' : 'Groups', hidden(' of ' + c.name))) : aside('–')),
    td(why(c.why))),
  is && role === 'qi' ? h('tr', { class: 'panel' }, h('td', { colspan: 5 }, editor(c))) : null];
}
function spark(c) {
  const most = Math.max(...c.bars, 1), w = 96 / Math.max(c.bars.length, 1);
  return h('svg', { class: 'spark', viewBox: '0 0 96 24', role: 'img', 'aria-label': `${N(c.distinct)} different values` }, c.bars.map((b, i) =>
    h('rect', { x: (i * w).toFixed(1), width: Math.max(w - 1, .8).toFixed(1), y: (23.5 - 23 * b / most).toFixed(1), height: (23 * b / most + .5).toFixed(1) })));
}

let box;
function editor(c) {
  if (box?.of !== c) box = Object.assign(h('div', {}, 'reading…'), { of: c });
  latest(box, 'levels?column=' + encodeURIComponent(c.name), found => panel(c, found));
  return box;
}
async function regroup(path, body) { if (await change(path, body)) say('The groups have changed; Undo takes it back'); }
function panel(c, found) {
  const top = found.levels.length - 1, chosen = () => [...document.querySelectorAll('.levels input:checked')];
  const group = () => {
    const members = chosen();
    if (!members.length) { say('Choose values first'); return; }
    const level = +members[0].dataset.level;
    regroup('group', { column: c.name, level, members: members.filter(x => +x.dataset.level === level).map(x => x.value), name: $('groupname').value });
  };
  const values = (i, n = found.levels[i].number) => found.range ? i ? C(n, 'range') + ' of neighbours' : C(n, 'value') + ' in order' : !i ? C(n, 'value') : i === top ? 'Level ' + i + ': suppressed' : `Level ${i}: ${C(n, 'group')}`;
  return [h('div', { class: 'levels', ...region('Levels of ' + c.name) }, found.levels.map((level, i) => h('div', {}, h2(values(i)),
      h('ul', {}, level.nodes.map(node => leaf(c, node, i, top, found.editable)), level.number > level.nodes.length ? h('li', { class: 'soft' }, `and ${N(level.number - level.nodes.length)} more`) : null)))),
    found.editable ? h('div', { class: 'fields' }, field('groupname', 'Group', 'tick values or groups of one level, or drag them onto a group',
        form(group, h('input', { id: 'groupname', placeholder: 'name of the group' }), button('Make one group'))),
      found.numbers ? field('borders', 'Borders', 'a semicolon begins the next level',
        form(() => regroup('borders', { column: c.name, borders: $('borders').value }),
          h('input', { id: 'borders', placeholder: '18, 30, 45, 65; 30, 65' }), button('Make intervals'))) : null) : found.range ? soft('A class shows the smallest range that holds it. Above, classes of k neighbours; the search finds better ones. To group by hand, empty the rule.') : soft('Too many values to group by hand: give a rule such as interval:5,10 or prefix:1, or a file.'),
    ranges(c, found), options(c)];
}
function ranges(c, found) {
  const now = found.range, ordered = now ? now.kind === 'order' : !found.kind;
  const make = e => {
    e.preventDefault();
    const parts = ['round', 'most', 'cost', 'show'].map(id => [id, $('range' + id)?.value.trim()]).filter(([, value]) => value && value !== 'width').map(x => x.join('='));
    const rule = parts.length ? 'range:' + parts : 'range';
    if (ordered) regroup('order', { column: c.name, values: $('rangeorder').value.split('\n'), rule });
    else regroup('ask', { rules: { [c.name]: rule } });
  };
  if (ordered && !found.order.length) return null;
  const input = (id, ...say) => field('range' + id, ...say, h('input', { id: 'range' + id, size: 8, value: now?.[id] ?? '' }));
  return h('form', { class: 'fields', onsubmit: make },
    ordered ? field('rangeorder', 'Order', 'a value a line, the least first', h('textarea', { id: 'rangeorder', rows: 5 }, found.order.join('\n'))) : null,
    ordered || found.kind === 'dates' ? null : input('round', 'Round ends', 'outward, to multiples of'),
    input('most', 'Widest', (ordered ? 'in steps; ' : found.kind === 'dates' ? 'in days; ' : '') + 'wider is *'),
    field('rangecost', 'Cost', 'of a range', h('select', { id: 'rangecost' }, among([['width', 'its width'], ['values', 'values inside']], now?.cost))),
    input('show', 'Written', 'as {low} to {high}'),
    button(now ? 'Change the ranges' : 'Show ranges'));
}
function leaf(c, [label, rows, over], level, top, editable) {
  const text = label ?? '(missing)', free = editable && level < top && label != null, moved = level > 0 && level < top;
  const drop = e => {
    e.preventDefault(); e.currentTarget.classList.remove('over');
    const from = JSON.parse(e.dataTransfer.getData('text/plain') || '{}');
    if (from.level === level - 1) regroup('group', { column: c.name, level: from.level, members: [from.label], name: label });
    else say('A value goes onto a group of the next level');
  };
  return h('li', { draggable: free ? 'true' : null, title: over && over !== '*' && over !== label ? 'in ' + over : null,
    ondragstart: free ? e => e.dataTransfer.setData('text/plain', JSON.stringify({ level, label })) : null,
    ondragover: moved ? e => { e.preventDefault(); e.currentTarget.classList.add('over'); } : null, ondragleave: e => e.currentTarget.classList.remove('over'), ondrop: moved ? drop : null },
  free ? h('label', {}, h('input', { type: 'checkbox', value: label, 'data-level': level }), text) : h('span', { class: 'grow' }, text),
  h('span', { class: 'n' }, N(rows)),
  moved && editable && label !== null ? h('button', { class: 'link', 'aria-label': 'Undo the group ' + text, title: 'Undo this group', onclick: () => regroup('ungroup', { column: c.name, level, group: label }) }, '×') : null);
}
function options(c) {
  const all = name => further()[name] ?? [], mine = x => x.column === c.name && !x.value;
  const cap = all('caps').find(mine);
  return h('div', { class: 'fields' },
    tick({ id: 'fixed', checked: all('fixed').includes(c.name), onchange: e => set('fixed', e.target.checked ? [...all('fixed'), c.name] : all('fixed').filter(x => x !== c.name)) }, 'never changed'),
    field('weight', 'Weight', 'cost of a cell, against 1', h('input', { id: 'weight', type: 'number', min: 0, step: 'any', value: further().weights?.[c.name] ?? 1, onchange: e => { const { [c.name]: _, ...rest } = further().weights ?? {}; set('weights', +e.target.value === 1 ? rest : { ...rest, [c.name]: e.target.value }); } })),
    field('cap', 'Cap', 'largest share of changed cells, in %', h('input', { id: 'cap', type: 'number', min: 0, max: 100, step: 'any', value: cap ? 100 * cap.share : '', placeholder: 'none', onchange: ({ target: { value } }) => set('caps', [...all('caps').filter(x => !mine(x)), ...value === '' ? [] : [{ column: c.name, share: String(+value / 100) }]]) })));
}

function release() {
  return h('div', { class: 'bench' }, h('div', { class: 'stack' }, asking(), card('Changed cells by column', byColumn())),
    h('div', { class: 'stack' }, section('progress', 'Cost and bound', progress()),
      h('div', { class: 'two' }, section('curve', 'What each k costs', sweep()),
        card('Sizes of classes', S.figures ? crowds(S.figures) : soft('Shown with the first release.')))));
}
const set = (name, value) => change('ask', { further: { [name]: value === '' ? null : value } });
function choice(id, label, small, options) {
  const now = String(further()[id] ?? '');
  const all = options.some(([value]) => String(value ?? '') === now) ? options : [...options, [now, now]];
  return field(id, label, small, h('select', { id, onchange: e => set(id, e.target.value === '' ? null : isNaN(e.target.value) ? e.target.value : +e.target.value) },
    among(all.map(([value, text]) => [String(value ?? ''), text]), now)));
}
function input(id, label, small, given = {}) {
  return field(id, label, small, h('input', { id, value: further()[id] ?? '', onchange: e => set(id, given.type === 'number' && e.target.value ? +e.target.value : e.target.value), ...given }));
}
function asking() {
  const job = S.state.job, running = job?.state === 'running', secret = Object.values(roles()).includes('sensitive'), k = further().k;
  const pick = e => set('k', +e.target.value);
  return h('section', { class: 'card ask', 'aria-label': 'What is asked' }, h1('Ask'),
    field('k', 'k', 'everyone hides among at least so many',
      h('div', { class: 'kline' }, h('input', { id: 'krange', type: 'range', min: 2, max: 50, value: k, 'aria-label': 'k, 2 to 50', oninput: e => { $('k').value = e.target.value; }, onchange: pick }), h('input', { id: 'k', type: 'number', min: 1, value: k, onchange: pick }))),
    secret ? [choice('l', 'l', 'different values of each sensitive column', [[null, 'not asked'], [2, '2'], [3, '3'], [4, '4']]), choice('t', 't', 'how far a class may be from the table', [[null, 'not asked'], [.1, '0.1'], [.2, '0.2'], [.3, '0.3']])] : null,
    choice('gap', 'End', 'when at most so much could be spared', [[null, 'when it stops paying'], [.05, '5 %'], [.02, '2 %'], [.01, '1 %'], [0, 'proven: nothing']]),
    choice('time_limit', 'Time', 'to search, at most', [[null, 'as needed'], [10, '10 s'], [60, '1 min'], [600, '10 min']]),
    h('details', { id: 'more', open: S.more, ontoggle: e => { S.more = e.target.open; } }, h('summary', {}, 'More'), h('div', { class: 'ask' },
      input('models', 'Models', 'such as l=3,kind=entropy,on=COLUMN', { value: said(further().models), onchange: e => set('models', e.target.value ? parsed(e.target.value) : null) }),
      input('linked', 'Linked', 'columns changed together: a, b; c, d', { value: (further().linked ?? []).map(x => x.join(', ')).join('; '), onchange: e => set('linked', e.target.value ? e.target.value.split(';').map(x => x.split(',').map(y => y.trim())) : null) }),
      choice('cost', 'Cost', 'of a changed cell', [[null, 'by level'], ['ncp', 'by share of values (ncp)'], ['stars', 'one each']]),
      choice('decimal', 'Decimals', 'of numbers that are texts', [[null, 'after a point'], [',', 'after a comma']]),
      choice('order', 'Rows', 'of the release', [['shuffle', 'shuffled'], ['keep', 'as in the table']]),
      input('suppress_rows', 'Leave out', 'at most so many rows, 20 or 2%, where the table breaks a model'),
      input('seed', 'Seed', 'of all randomness', { type: 'number', min: 0 }))),
    inline(running ? button(job.stopping ? 'Stopping…' : 'Take the best so far', () => change('stop', { what: 'release' }), { class: 'main', id: 'run', disabled: job.stopping })
      : button(job ? 'Make it again' : 'Make the release', () => start('run'), { class: 'main', id: 'run' }),
    S.state.stale && !running ? badge('asked has changed', 'warn') : null));
}
const said = models => (models ?? []).map(m => Object.entries(m).flatMap(([n, v]) => [v].flat().map(x => `${n}=${x}`)).join(',')).join('; ');
const parsed = text => text.split(';').map(each => {
  const model = {};
  for (const part of each.split(',')) {
    const [name, value] = part.split('=').map(x => x.trim());
    if (name === 'on' || name === 'values') (model[name] ??= []).push(value); else model[name] = name === 'k' ? +value : value;
  }
  return model;
});
function byColumn() {
  const job = S.state.job;
  return job?.by_column ? table('Changed cells by column', null, Object.entries(job.by_column).sort((a, b) => b[1] - a[1]).map(([name, n]) =>
    tr(rowhead(name), num(N(n)), pale(P(job.rows ? n / job.rows : 0))))) : soft('Shown with the first release.');
}
function progress() {
  const job = S.state.job, running = job?.state === 'running', head = h2('Cost and bound');
  if (!job) return [head, lead('The search begins with a lawful release and makes it cheaper. The bound rises: no lawful release can cost less. Take the best so far at any moment.')];
  const state = running ? [pulse(), `${job.stopping ? 'stopping' : job.stage}${job.share ? ` ${Math.round(100 * job.share)} %` : ''} · ${job.seconds} s`]
    : job.state === 'failed' ? badge('failed', 'warn') : [badge(job.status === 'optimal' ? 'proven optimal' : S.state.stale ? 'done, before the change' : 'done', 'good'), ` by ${job.method}, ${job.seconds} s, ${job.ended}`];
  const gap = job.cost ? (job.cost - (job.bound ?? 0)) / job.cost : 0, rest = h('i', {});
  rest.style.width = 100 * (1 - gap) + '%';
  return [inline(head, grow(), h('span', { class: 'stages', id: 'jobstate' }, state)),
    job.state === 'failed' ? alarm(job.error) : null,
    job.stage === 'compiling kernels' && running ? soft('incrowd runs for the first time here: its kernels are compiled, which takes up to a minute, once.') : null,
    job.cost == null ? null : [h('dl', { class: 'figures' }, figure('cost of the release', N(job.cost)), figure('no release costs less than', N(job.bound ?? 0)), figure('could still be spared', P(gap), 'at the very most'),
      job.changed != null ? [figure('changed cells', P(job.cells ? job.changed / job.cells : 0), `${N(job.changed)} of ${N(job.cells)}`), figure('classes', N(job.classes), `the smallest has ${C(job.smallest, 'row')}`)] : null),
    h('div', { class: 'gap', role: 'img', 'aria-label': `The bound is ${P(1 - gap)} of the cost` }, rest), trace(job)],
    (job.warnings ?? []).map(text => note(text + '.'))];
}
const figure = (name, value, small) => h('div', {}, h('dt', {}, name), h('dd', {}, value, small ? h('small', {}, small) : null));
function sweep() {
  const found = S.state.sweep, head = h2('What each k costs');
  if (!found) return [head, soft('One sweep over k from 2 to 50, at most 20 s; points appear as they are found. Choose a point to ask for its k.'), button('Sweep', () => start('sweep'), { id: 'sweep' })];
  const running = found.state === 'running';
  return [inline(head, grow(), running ? [h('span', { class: 'stages' }, pulse(), found.stage), button('End', () => change('stop', { what: 'sweep' }))] : null),
    found.state === 'failed' ? note(found.error) : null, curve(found, further().k, k => set('k', k))];
}
/** What changes in a run: who types is not disturbed. */
function live() {
  for (const [id, make] of [['progress', progress], ['curve', sweep]]) {
    const at = $(id);
    if (at && !at.contains(document.activeElement)) fill(at, make());
  }
}
screen('columns', 'Columns', columns);
screen('release', 'Release', release, live);
