/** Tracker's two pages, sign-in and consent. Plain HTML, no script. */
import { accountNames, accounts } from './accounts.ts';
import type { Account } from './accounts.ts';

const style = `
:root { color-scheme: light dark; --page: #eef3f2; --card: #fff; --text: #14211f; --quiet: #5b6b68; --line: #d9e2e0; --hover: #f3f7f6; --brand: #0b6e5f; --on-brand: #fff }
@media (prefers-color-scheme: dark) { :root { --page: #0e1514; --card: #17201f; --text: #e7efed; --quiet: #93a39f; --line: #2a3735; --hover: #1e2928; --brand: #5cc9b5; --on-brand: #06211c } }
* { box-sizing: border-box }
body { margin: 0; min-height: 100svh; display: grid; place-items: center; padding: 1.25rem; background: var(--page); color: var(--text); font: 1rem/1.5 system-ui, sans-serif }
main { width: 100%; max-width: 25rem; background: var(--card); border: 1px solid var(--line); border-radius: 1rem; padding: 2rem }
.brand { display: flex; align-items: center; gap: .5rem; margin: 0 0 1.5rem; font-weight: 650; color: var(--brand) }
h1 { font-size: 1.25rem; line-height: 1.35; margin: 0 0 .25rem; overflow-wrap: anywhere }
p { margin: 0; color: var(--quiet) }
ul { list-style: none; margin: 1.25rem 0; padding: 0; border-block: 1px solid var(--line) }
li { display: flex; gap: .75rem; padding: .625rem 0 } li + li { border-top: 1px solid var(--line) } li::before { content: "✓"; color: var(--brand) }
form { display: grid; gap: .625rem; margin: 1.5rem 0 0 }
button { display: block; width: 100%; padding: .75rem 1rem; font: inherit; font-weight: 550; color: inherit; text-align: left; background: transparent; border: 1px solid var(--line); border-radius: .75rem; cursor: pointer }
button:hover { background: var(--hover) }
button:focus-visible { outline: 2px solid var(--brand); outline-offset: 2px }
button small { display: block; font-weight: 400; color: var(--quiet) }
.pair { grid-template-columns: 1fr 1fr } .pair button { text-align: center }
.primary { background: var(--brand); border-color: var(--brand); color: var(--on-brand) } .primary:hover { background: var(--brand); filter: brightness(1.08) }
.plain { border: 0; padding: .25rem; color: var(--quiet); font-weight: 400; font-size: .875rem; text-align: center; text-decoration: underline }
footer { margin-top: 1.5rem; font-size: .875rem; color: var(--quiet); overflow-wrap: anywhere }
`;

/** Unasked, browsers fetch /favicon.ico, which the policy below forbids. */
const icon =
  "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'><rect width='16' height='16' rx='4' fill='%230b6e5f'/><path d='m4.5 8.3 2.5 2.5 4.5-5' fill='none' stroke='white' stroke-width='2' stroke-linecap='round' stroke-linejoin='round'/></svg>";

export const pageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  // No form-action: the answer to a form is a chain of redirects that ends at the client.
  'content-security-policy':
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'; base-uri 'none'",
};

export function signInPage(uid: string): string {
  const buttons = accountNames.map((account) => {
    const { name, role } = accounts[account];
    return `<button name="account" value="${account}">Continue as ${account}<small>${name}, ${role}</small></button>`;
  });
  return page(
    'Sign in',
    `<h1>Sign in to Tracker</h1><p>A demo needs no password.</p>
<form method="post" action="/sign-in/${encodeURIComponent(uid)}">${buttons.join('\n')}</form>`,
  );
}

export interface Consent {
  uid: string;
  client: string;
  /** Where the browser goes afterwards. */
  host: string;
  account: Account;
  scopes: string[];
}

const meanings: Record<string, string> = {
  'issues:read': 'Read the team’s issues and comments',
  'issues:write': 'Create, comment on and close issues in your name',
  openid: 'Know who you are',
  offline_access: 'Stay connected while you are away',
};

export function consentPage({ uid, client, host, account, scopes }: Consent): string {
  const action = `/sign-in/${encodeURIComponent(uid)}`;
  const items = scopes.map((scope) => `<li>${escape(meanings[scope] ?? scope)}</li>`).join('');
  const others = accountNames.filter((name) => name !== account);
  const switches = others.map(
    (name) =>
      `<button class="plain" name="account" value="${name}">Not ${account}? Continue as ${name}</button>`,
  );
  return page(
    'Allow access',
    `<h1>${escape(client)} would like to use your Tracker account</h1><p>You are signed in as ${account}.</p>
<ul>${items}</ul>
<form class="pair" method="post" action="${action}"><button name="decision" value="deny">Deny</button><button class="primary" name="decision" value="allow">Allow</button></form>
<form method="post" action="${action}">${switches.join('\n')}</form>
<footer>You go back to ${escape(host)} afterwards.</footer>`,
  );
}

export function problemPage(): string {
  return page(
    'Start again',
    '<h1>This request cannot be continued</h1><p>It is no longer open or was not understood. Go back to where you came from and start again.</p>',
  );
}

export function welcomePage(endpoint: string): string {
  return page(
    'Tracker',
    `<h1>An issue tracker for the demo</h1><p>Its MCP endpoint is ${escape(endpoint)}. People come here only to connect their account.</p>`,
  );
}

function page(title: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="${icon}"><title>${title} · Tracker</title><style>${style}</style></head>
<body><main><p class="brand">Tracker</p>${body}</main></body>
</html>
`;
}

function escape(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
