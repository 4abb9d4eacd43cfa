/** What the pages of the demo's servers look like. Plain HTML, no script. */

const style = `
:root { color-scheme: light dark; --page: #f0f2f8; --card: #fff; --text: #171b2b; --quiet: #5d6479; --line: #dce0ec; --brand: #3348b8; --on-brand: #fff }
@media (prefers-color-scheme: dark) { :root { --page: #10121a; --card: #1a1d29; --text: #e9ebf4; --quiet: #9aa1b8; --line: #2e3345; --brand: #a3b2ff; --on-brand: #10163a } }
* { box-sizing: border-box }
body { margin: 0; min-height: 100svh; display: grid; place-items: center; padding: 1.25rem; background: var(--page); color: var(--text); font: 1rem/1.5 system-ui, sans-serif }
main { width: 100%; max-width: 25rem; background: var(--card); border: 1px solid var(--line); border-radius: 1rem; padding: 2rem }
.brand { display: flex; align-items: center; gap: .5rem; margin: 0 0 1.5rem; font-weight: 650; color: var(--brand) }
h1 { font-size: 1.25rem; line-height: 1.35; margin: 0 0 .25rem; overflow-wrap: anywhere }
p { margin: 0; color: var(--quiet) }
dl { margin: 1.25rem 0; border-block: 1px solid var(--line) }
dl div { display: flex; justify-content: space-between; gap: 1rem; padding: .625rem 0 } dl div + div { border-top: 1px solid var(--line) }
dt { color: var(--quiet) } dd { margin: 0; text-align: right; overflow-wrap: anywhere }
.total dd { font-weight: 650 }
button { display: block; width: 100%; padding: .75rem 1rem; font: inherit; font-weight: 550; text-align: center; background: var(--brand); color: var(--on-brand); border: 0; border-radius: .75rem; cursor: pointer }
button:hover { filter: brightness(1.08) }
button:focus-visible { outline: 2px solid var(--brand); outline-offset: 2px }
footer { margin-top: 1.5rem; font-size: .875rem; color: var(--quiet) }
`;

/** Unasked, browsers fetch /favicon.ico, which the policy below forbids. */
const icon =
  "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'><rect width='16' height='16' rx='4' fill='%233348b8'/><path d='m3.5 8.6 9-4.1-3.6 8.4-1.4-3.4z' fill='none' stroke='white' stroke-width='1.6' stroke-linejoin='round'/></svg>";

export const pageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'content-security-policy':
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
};

/** `brand`: whose page it is. `body` is HTML. */
export function demoPage(brand: string, title: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="${icon}"><title>${title} · ${brand}</title><style>${style}</style></head>
<body><main><p class="brand">${brand}</p>${body}</main></body>
</html>
`;
}

/** Rows of names and values; the last one is the total. */
export function factList(facts: [name: string, value: string][]): string {
  const rows = facts.map(
    ([name, value], index) =>
      `<div${index === facts.length - 1 ? ' class="total"' : ''}><dt>${name}</dt><dd>${escapeHtml(value)}</dd></div>`,
  );
  return `<dl>${rows.join('')}</dl>`;
}

export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
