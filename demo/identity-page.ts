/** The sign-in page of the demo's identity provider: pick who you are. Plain HTML, no script. */
import { escapeHtml } from './page.ts';
import { demoUsers } from './identity-users.ts';
import type { DemoWords } from './words.ts';

const style = `
:root { color-scheme: light dark; --page: #f4f4f1; --card: #fff; --text: #1c1d1f; --quiet: #6a6d72; --line: #e3e3de; --hover: #f7f7f4; --focus: #3056d3 }
@media (prefers-color-scheme: dark) { :root { --page: #131416; --card: #1d1f22; --text: #ededeb; --quiet: #9a9da3; --line: #313438; --hover: #25282c; --focus: #8ea6ff } }
* { box-sizing: border-box }
body { margin: 0; min-height: 100svh; display: grid; place-items: center; padding: 1.25rem; background: var(--page); color: var(--text); font: 1rem/1.5 system-ui, sans-serif }
main { width: 100%; max-width: 24rem; background: var(--card); border: 1px solid var(--line); border-radius: 1rem; padding: 2rem }
h1 { font-size: 1.25rem; line-height: 1.3; margin: 0 0 .25rem }
p { margin: 0; color: var(--quiet) }
form { display: grid; gap: .625rem; margin: 1.5rem 0 }
button { display: flex; align-items: center; gap: .875rem; width: 100%; padding: .75rem .875rem; font: inherit; font-weight: 550; text-align: left; color: inherit; background: transparent; border: 1px solid var(--line); border-radius: .75rem; cursor: pointer }
button:hover { background: var(--hover) }
button:focus-visible { outline: 2px solid var(--focus); outline-offset: 2px }
button i { flex: none; width: 2.25rem; height: 2.25rem; border-radius: 50%; display: grid; place-items: center; color: #fff; font-weight: 600; font-style: normal }
button small { display: block; font-weight: 400; font-size: .875rem; color: var(--quiet) }
.alice i { background: #b4472f } .bob i { background: #2f6b57 }
footer { border-top: 1px solid var(--line); padding-top: 1rem; font-size: .875rem; color: var(--quiet) }
`;

/** Unasked, browsers fetch /favicon.ico, which the policy below forbids. */
const icon =
  "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'><rect width='16' height='16' rx='4' fill='%23b4472f'/><path d='M8 4a2.3 2.3 0 1 0 0 4.6A2.3 2.3 0 1 0 8 4M3.8 13c.6-2.3 2.2-3.2 4.2-3.2s3.6.9 4.2 3.2z' fill='white'/></svg>";

export const pageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  vary: 'accept-language',
  // No form-action: the answer to the form is a chain of redirects that ends at the client.
  'content-security-policy':
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'; base-uri 'none'",
};

/** `program`: what somebody who signs in lets act for them; a browser's own sign-in has none. */
export function signInPage(words: DemoWords, uid: string, program?: string): string {
  const buttons = demoUsers.map(
    ({ id, name, email }) =>
      `<button class="${id}" name="user" value="${id}"><i aria-hidden="true">${name.charAt(0)}</i><span>${words.continueAs(name)}<small>${email}</small></span></button>`,
  );
  const lead =
    program === undefined
      ? `<h1>${words.whoAreYou}</h1><p>${words.signInToInterlude}</p>`
      : `<h1>${words.letProgramAct}</h1><p>${words.asksToAct(`<strong>${escapeHtml(program)}</strong>`)}</p>`;
  if (program !== undefined) buttons.push(`<button name="deny" value="yes">${words.deny}</button>`);
  return page(
    words,
    words.signIn,
    `${lead}
<form method="post" action="/interaction/${encodeURIComponent(uid)}">${buttons.join('\n')}</form>
<footer>${words.noPassword}</footer>`,
  );
}

export function expiredPage(words: DemoWords): string {
  return page(words, words.startAgain, `<h1>${words.notOpen}</h1><p>${words.goBack}</p>`);
}

export function page({ language }: DemoWords, title: string, body: string): string {
  return `<!doctype html>
<html lang="${language}">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="${icon}"><title>${title} · Interlude demo</title><style>${style}</style></head>
<body><main>${body}</main></body>
</html>
`;
}
