// SVG, its content in words.
import { N, P, h, soft } from '/desk.js';

const picture = (W, H, label, ...inside) => h('svg', { viewBox: `0 0 ${W} ${H}`, role: 'img', 'aria-label': label }, ...inside);
const word = (x, y, anchor, words, kind) => h('text', { x, y, class: kind, 'text-anchor': anchor }, words);
const scaled = (a, b, x, y) => v => x + (b === a ? 0 : (v - a) / (b - a) * (y - x));
const lines = (Y, values, x1, x2, name) => values.map(v => [h('line', { class: 'axis', x1, x2, y1: Y(v), y2: Y(v) }), word(x1 - 6, Y(v) + 4, 'end', name(v))]);

export function trace(job) {
  const p = job.state === 'done' ? [...job.points, [job.seconds, job.cost, job.bound]] : job.points;
  if (!p.length) return null;
  const W = 760, H = 150, T = Math.max(job.seconds, ...p.map(q => q[0]), .5), [, cost, bound] = p.at(-1);
  const room = Math.max(cost - bound, .01 * cost), low = Math.max(0, bound - 1.2 * room), top = cost + 2.5 * room;
  const X = scaled(0, T, 66, W - 8), Y = scaled(low, top, H - 24, 8), C = v => Math.min(H - 24, Math.max(8, Y(v))), F = v => v.toFixed(1);
  const step = n => p.map((q, i) => (i ? `H${F(X(q[0]))}V` : `M${F(X(q[0]))} `) + F(C(q[n]))).join('') + `H${F(X(T))}`;
  const back = p.map(q => `V${F(C(q[2]))}H${F(X(q[0]))}`).reverse().join('');
  return picture(W, H, `The cost has fallen to ${N(cost)}, the bound has risen to ${N(bound)}`,
    lines(Y, [low, (low + top) / 2, top], 66, W - 8, v => N(Math.round(v))),
    [0, .5, 1].map(f => word(X(T * f), H - 6, f === 1 ? 'end' : f ? 'middle' : 'start', F(T * f) + ' s')),
    h('path', { class: 'band', d: step(1) + back + 'Z' }), h('path', { class: 'bound', d: step(2) }), h('path', { class: 'cost', d: step(1) }),
    word(W - 12, C(cost) - 6, 'end', `found ${N(cost)}`, 'strong'), bound ? word(W - 12, C(bound) + 15, 'end', `proven: at least ${N(bound)}`) : null);
}

export function curve(found, k, choose) {
  const p = found.points;
  if (!p.length) return soft('The bounds come first, then points from the largest k down.');
  const W = 460, H = 215, least = found.ks[0], most = Math.max(found.ks.at(-1), least + 1), top = Math.max(...p.map(q => q[1]), .01);
  const log = scaled(Math.log(least), Math.log(most), 44, W - 16), X = v => log(Math.log(v)), Y = scaled(0, top, H - 36, 10);
  const path = n => p.map((q, i) => (i ? 'L' : 'M') + X(q[0]).toFixed(1) + ' ' + Y(q[n]).toFixed(1)).join('');
  const point = q => h('circle', { id: 'point' + q[0], class: 'dot' + (q[0] === k ? ' at' : ''), cx: X(q[0]).toFixed(1), cy: Y(q[1]).toFixed(1), r: q[0] === k ? 6 : 4.5, tabindex: 0, role: 'button', 'aria-pressed': String(q[0] === k),
    onclick: () => choose(q[0]), onkeydown: e => { if (e.key === 'Enter' || e.key === ' ') { e.preventDefault(); choose(q[0]); } } },
  h('title', {}, `k = ${q[0]}: costs ${P(q[1])}, at least ${P(q[2])}`));
  return [h('svg', { viewBox: `0 0 ${W} ${H}`, role: 'group', 'aria-label': 'Cost against k, as a share of the most a release can cost. Choose a point to ask for its k.' },
    lines(Y, [0, top / 2, top], 44, W - 16, v => Math.round(100 * v) + ' %'),
    [2, 3, 5, 10, 20, 50].filter(v => v >= least && v <= most).map(v => word(X(v), H - 19, 'middle', v)), word(W / 2, H - 3, 'middle', 'k'),
    h('path', { class: 'band', d: path(1) + p.slice().reverse().map(q => `L${X(q[0]).toFixed(1)} ${Y(q[2]).toFixed(1)}`).join('') + 'Z' }), h('path', { class: 'bound', d: path(2) }), h('path', { class: 'cost', d: path(1) }), p.map(point)),
  h('p', { class: 'key' }, h('span', {}, h('i', { class: 'a' }), 'found'), h('span', {}, h('i', { class: 'n' }), 'might still be spared'), h('span', {}, 'choose a point to ask for its k'))];
}

/** Before and after: told apart by their place, not by colour alone. */
export const keyBA = () => h('p', { class: 'key' }, h('span', {}, h('i', { class: 'b' }), 'before (first bar)'), h('span', {}, h('i', { class: 'a' }), 'after (second bar)'));

export function crowds(f) {
  const what = f.people == null ? 'rows' : 'people', W = 460, H = 215, n = f.sizes.length, w = (W - 56) / n, top = Math.max(...f.before, ...f.after, 1), Y = scaled(0, top, H - 36, 10);
  const bar = (kind, i, v, y = Y(v[Math.floor(i)])) => h('rect', { class: 'bar-' + kind, x: 55 + i * w, width: w * .38, y, height: Y(0) - y });
  return [picture(W, H, f.sizes.map((s, i) => `classes of ${s}: ${N(f.before[i])} ${what} before, ${N(f.after[i])} after`).join('; '),
    lines(Y, [0, top / 2, top], 52, W, v => N(Math.round(v))),
    f.sizes.map((s, i) => [bar('b', i, f.before), bar('a', i + .42, f.after), word(55 + (i + .4) * w, H - 19, 'middle', s)]),
    word(W / 2, H - 3, 'middle', `${what} in the class`)), keyBA()];
}

export function distribution(bars) {
  const most = Math.max(...bars.flatMap(b => [b[1] ?? 0, b[2]]), 1), W = 480, R = 24, long = v => (v ?? 0) / most * (W - 255), name = b => b[0] ?? '(missing)';
  return [picture(W, bars.length * R + 4, bars.map(b => `${name(b)}: ${N(b[1] ?? 0)} before, ${N(b[2])} after`).join('; '), bars.map((b, i) => [
    word(142, i * R + 16, 'end', name(b).length > 24 ? name(b).slice(0, 23) + '…' : name(b)), h('rect', { class: 'bar-b', x: 150, y: i * R + 4, height: 7, width: long(b[1]) }), h('rect', { class: 'bar-a', x: 150, y: i * R + 12, height: 7, width: long(b[2]) }),
    word(156 + Math.max(long(b[1]), long(b[2])), i * R + 15, null, `${N(b[1] ?? 0)} → ${N(b[2])}`)])), keyBA()];
}
