// Sets formulas with KaTeX: a line [TeX, is it displayed] in, a line {html} or {error} out.

import { createInterface } from "node:readline";

const { default: katex } = await import(process.argv[2]);

for await (const line of createInterface({ input: process.stdin })) {
  const [tex, displayMode] = JSON.parse(line);
  let set;
  try {
    set = { html: katex.renderToString(tex, { displayMode, strict: "error" }) };
  } catch (error) {
    set = { error: error.message };
  }
  process.stdout.write(`${JSON.stringify(set)}\n`);
}
