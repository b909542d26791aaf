// The arithmetic of the interactive figures: pure functions, which the tests hold against lib.

export const dot = (a, b) => a.reduce((sum, x, i) => sum + x * b[i], 0);
export const norm = (a) => Math.sqrt(dot(a, a));
export const transpose = (m) => m[0].map((_, j) => m.map((row) => row[j]));
export const matmul = (a, b) => a.map((row) => transpose(b).map((column) => dot(row, column)));
export const subtract = (a, b) => a.map((x, i) => x - b[i]);
export const add = (a, b) => a.map((x, i) => x + b[i]);

export function cosine(a, b) {
  return dot(a, b) / (norm(a) * norm(b));
}

/** Weights of one row of scores; where `allowed` is false they are exactly 0. */
export function softmax(scores, temperature = 1, allowed = scores.map(() => true)) {
  const kept = scores.filter((_, i) => allowed[i]);
  const highest = kept.length ? Math.max(...kept) : 0;
  const exponentials = scores.map((s, i) => (allowed[i] ? Math.exp((s - highest) / temperature) : 0));
  const total = exponentials.reduce((sum, e) => sum + e, 0);
  return exponentials.map((e) => (total ? e / total : 0));
}

export function logSumExp(scores) {
  const highest = Math.max(...scores);
  return highest + Math.log(scores.reduce((sum, s) => sum + Math.exp(s - highest), 0));
}

export const entropy = (weights) =>
  weights.reduce((sum, w) => sum - (w > 0 ? w * Math.log(w) : 0), 0);

/** How each weight answers to each score: diag(w) - w w^T. */
export const jacobian = (w) => w.map((wi, i) => w.map((wj, j) => (i === j ? wi : 0) - wi * wj));

/** q k^T, divided by the root of d_k unless another factor is given. */
export function scores(q, k, scale = 1 / Math.sqrt(q[0].length)) {
  return matmul(q, transpose(k)).map((row) => row.map((x) => x * scale));
}

export function attend(q, k, v, { mask, scale } = {}) {
  const table = scores(q, k, scale);
  const weights = table.map((row, i) => softmax(row, 1, mask?.[i]));
  return { scores: table, weights, output: matmul(weights, v) };
}

/** Numbers between 0 and 1, the same for the same seed on every machine (mulberry32). */
export function uniform(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/** Normal numbers of mean 0 and variance 1 (Box and Muller 1958). */
export function normal(seed) {
  const next = uniform(seed);
  return () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());
}

/** A number as the pages print it: fixed digits, a true minus sign, never -0. */
export function fmt(x, digits = 2) {
  const text = x.toFixed(digits);
  return Number(text) === 0 ? text.replace("-", "") : text.replace("-", "\u2212");
}
