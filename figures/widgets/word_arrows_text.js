// What the figure of words and arrows says of a recorded sentence: its numbers and its words.

import { fmt } from "./arithmetic.js";

export const LEAST = 0.05; // thinner arrows are not drawn; the numbers at the words still say them

/** The weights of one recorded sentence: a table for each head, row i as long as i + 1. */
export function unpackWeights({ tokens, weights }, heads) {
  let [at, zeros] = [0, 0];
  const next = () => {
    const code = zeros ? 0 : weights.charCodeAt(at++);
    if (code > 0x200) zeros = code - 0x200; // a run of zeros; the rest are hundredths
    else if (code) return (code - (code > 0xa0 ? 0xa0 : 0x24)) / 100;
    zeros -= 1;
    return 0;
  };
  return Array.from({ length: heads }, () =>
    tokens.map((_, i) => (i ? Array.from({ length: i + 1 }, next) : [1])),
  );
}

/** Probabilities of the listed words: first with all heads, then without each head. */
export function unpackChances({ surprisals, changes }) {
  const without = changes[0].map((_, head) => surprisals.map((s, k) => Math.exp(-s / 1000 - changes[k][head] / 100)));
  return [surprisals.map((s) => Math.exp(-s / 1000)), ...without];
}

/** How the log of the odds of the right word against the other changes without each head. */
export function effects(chances, right) {
  const odds = (p) => Math.log(p[right] / p[1 - right]);
  return chances.slice(1).map((p) => odds(p) - odds(chances[0]));
}

/** The heads without which the right word loses most, the first one first. */
export function mostNeeded(changes, count) {
  const order = changes.map((_, head) => head).sort((a, b) => changes[a] - changes[b] || a - b);
  return order.slice(0, count);
}

/** The arrows to draw, from one word or from every word; none from a word to itself. */
export function arrows(table, query, every, least = LEAST) {
  const from = every ? table.map((_, i) => i) : [query];
  return from.flatMap((i) =>
    table[i].flatMap((weight, j) => (j < i && weight >= least ? [{ from: i, to: j, weight }] : [])),
  );
}

/** An arc over a line of words: it leaves one word and comes down on another, `high` units up. */
export function arc(from, to, high, base, upright = false, tip = 0) {
  const reach = (4 / 3) * high;
  const point = (along, up) => (upright ? [up, along] : [along, base - up]).map((x) => +x.toFixed(1)).join(" ");
  return `M${point(from, 0)} C${point(from, reach)} ${point(to, reach)} ${point(to, tip)}`;
}

/** A share as people say it: 12%, 1.9%, 0.30%. */
export function percent(p) {
  const shown = 100 * p;
  return `${fmt(shown, shown < 0.995 ? 2 : shown < 9.95 ? 1 : 0)}%`;
}

/** A head as papers write it: L26H0 is head 0 of layer 26. */
export const headName = (head, perLayer) => `L${Math.floor(head / perLayer)}H${head % perLayer}`;

/** The number of a head that is written L26H0 or 26.0. */
export function headNumber(name, perLayer) {
  const [, layer, head] = /^L?(\d+)[H.](\d+)$/i.exec(name.trim()) ?? [];
  if (layer === undefined) throw new Error(`A head is written like L26H0; got ${name}.`);
  return Number(layer) * perLayer + Number(head);
}

/** Where the last word looks in a head, not counting itself: "L26H0, mostly at keys". */
export function lookOf(tokens, table, name) {
  const weights = table.at(-1).slice(0, -1);
  return `${name}, which looks mostly at ${called(tokens, weights.indexOf(Math.max(...weights)))}`;
}

/** A token as a word; a piece that continues a word gets a hyphen, a mark its name. */
export function asWord(token, at = 1) {
  const names = { "\n": "a new line", ".": "full stop", ",": "comma" };
  if (names[token]) return names[token];
  if (token.startsWith(" ")) return token.slice(1);
  return at && /^\w/.test(token) ? `-${token}` : token;
}

/** The tokens in words: lists of indices, with the pieces of a word in one list. */
export function pieces(tokens) {
  const words = [];
  tokens.forEach((token, i) => (i && /^\w/.test(token) ? words.at(-1).push(i) : words.push([i])));
  return words;
}

/** A token by the word that it belongs to: "keys", or for a piece "Qu- of Quill". */
export function called(tokens, at) {
  const word = pieces(tokens).find((group) => group.includes(at));
  const open = at < word.at(-1) ? "-" : "";
  const whole = word.length > 1 ? ` of ${word.map((i) => tokens[i].trim()).join("")}` : "";
  return `${asWord(tokens[at], at)}${open}${whole}`;
}

/** A word that may come next, by the same name if the sentence holds it. */
export function calledNext(word, tokens) {
  const at = tokens.indexOf(word);
  return at < 0 ? asWord(word) : called(tokens, at);
}

/** The two contrasted words by their odds: "were is 6.3 times as likely as was". */
export function verdict(words, p, tokens = []) {
  const more = p[0] >= p[1] ? 0 : 1;
  const ratio = p[more] / p[1 - more];
  const times = ratio < 1.05 ? "about as likely as" : `${fmt(ratio, ratio < 9.95 ? 1 : 0)} times as likely as`;
  return `${calledNext(words[more], tokens)} is ${times} ${calledNext(words[1 - more], tokens)}`;
}

/** What is seen of a state, in words. */
export function report({ tokens, words }, table, chances, { head, name, query, out }) {
  const before = table[query].slice(0, query);
  const best = before.indexOf(Math.max(...before));
  const self = table[query][query];
  const looks = query === 0
    ? `The first word can look at nothing but itself.`
    : `Head ${name} looks from ${called(tokens, query)} back to ${called(tokens, best)} with ${fmt(before[best])} of its weight` +
      (self > before[best] ? `, and at ${called(tokens, query)} itself with ${fmt(self)}.` : ".");
  const how = out ? `Without head ${name}` : "With all heads";
  return `${looks} ${how}, ${verdict(words, chances[out ? head + 1 : 0], tokens)}.`;
}
