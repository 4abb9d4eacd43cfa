/**
 * `/`: the playground of the demo: a frame around the widget, or the way to sign in at the demo's identity provider. Its script is
 * `src/api/pages/playground/`.
 */
import { hash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { scriptRoute } from '../http/script-route.ts';
import { displayName } from './login/session.ts';
import type { Sessions } from './login/session.ts';
import { wordsOf } from './words.ts';
import type { PageWords } from './words.ts';

export interface PlaygroundParts {
  publicUrl: string;
  sessions: Sessions;
  temporalUi: string | null;
  /** By agent. */
  suggestions(): Record<string, string[]>;
  /** Mistakes in the agents file or in tools, while they are watched. */
  problems?: (() => readonly string[]) | undefined;
  /** An API token for a signed-in user. */
  tokenFor(user: string): Promise<string>;
}

export function playgroundRoutes(fastify: FastifyInstance, parts: PlaygroundParts): void {
  const { publicUrl, sessions, temporalUi, suggestions, problems, tokenFor } = parts;
  fastify.get('/', async (request, reply) => {
    const session = sessions.read(request);
    const view = session && {
      user: session.user,
      userName: displayName(session),
      temporalUi,
      suggestions: suggestions(),
      isWatched: problems !== undefined,
    };
    return reply.headers(playgroundHeaders).send(playgroundPage(wordsOf(request), view ?? null));
  });
  scriptRoute(fastify, 'playground.js');
  // Paths and lines of the developer's files: for people who are signed in.
  if (problems)
    fastify.get('/playground/problems', (request, reply) => {
      if (!sessions.read(request)) return reply.code(401).send();
      return reply.header('cache-control', 'no-store').send({ problems: problems() });
    });
  fastify.post('/playground/token', async (request, reply) => {
    const session = sessions.read(request);
    if (!session) return reply.code(401).send();
    if (request.headers.origin !== new URL(publicUrl).origin) return reply.code(403).send();
    reply.header('cache-control', 'no-store');
    return { user: session.user, token: await tokenFor(session.user) };
  });
}

interface PlaygroundView {
  user: string;
  userName: string;
  temporalUi: string | null;
  /** By agent. */
  suggestions: Record<string, string[]>;
  isWatched: boolean;
}

const style = `
:root { color-scheme: light dark; font: 400 1rem/1.5 system-ui, sans-serif; --line: light-dark(#e4e4df, #303338); --quiet: light-dark(#63666b, #a0a3a9); --accent: light-dark(#1c1d1f, #f1f1ef); --on-accent: light-dark(#fff, #17181a); --focus: light-dark(#3056d3, #93aaff); --ground: light-dark(#fff, #1b1d20); --raised: light-dark(#f4f4f1, #121315); --chip: light-dark(#e8e8e3, #272a2e); --text: light-dark(#1c1d1f, #eeeeec); --good: light-dark(#1d7a4c, #6fd19c); --bad: light-dark(#b3261e, #ff9c94); --warn: light-dark(#8a5300, #f2c274) }
* { box-sizing: border-box }
body { margin: 0; background: var(--ground); color: var(--text) }
main { display: flex; flex-direction: column; height: 100dvh }
.bar { display: flex; flex-wrap: wrap; align-items: center; gap: .5rem 1rem; padding: .625rem 1rem; border-bottom: 1px solid var(--line) }
.bar h1 { margin: 0; font-size: 1.0625rem; font-weight: 680; letter-spacing: -.01em }
.bar select, .bar button { min-height: 2.25rem; padding: .25rem .75rem; border: 1px solid var(--line); border-radius: .625rem; background: var(--ground); color: var(--text); font: inherit }
.bar button { cursor: pointer }
.bar label { color: var(--quiet); font-size: .9375rem }
.bar nav { display: flex; flex-wrap: wrap; gap: .25rem 1rem; margin-inline-start: auto; font-size: .9375rem }
a { color: inherit; text-underline-offset: .15em }
.panes { display: grid; grid-template-columns: minmax(0, 1fr) minmax(18rem, 26rem); flex: 1; min-height: 0 }
interlude-chat { min-height: 0 }
aside { display: flex; flex-direction: column; min-height: 0; border-inline-start: 1px solid var(--line); background: var(--raised) }
aside header { display: flex; align-items: baseline; justify-content: space-between; gap: 1rem; padding: .875rem 1rem .5rem; font-size: .9375rem }
aside h2 { margin: 0; font-size: .9375rem; font-weight: 620 }
.empty { padding: 0 1rem; color: var(--quiet); font-size: .9375rem }
.door { margin: auto; width: 100%; max-width: 60rem; padding: 2rem 1.25rem; text-align: center }
.door h1 { margin: 0 0 .5rem; font-size: 2rem; letter-spacing: -.02em }
.door > p { margin: 0; color: var(--quiet); text-wrap: balance }
.door ol { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(16rem, 100%), 1fr)); gap: 1rem; margin: 2rem 0 1.5rem; padding: 0; list-style: none; text-align: start }
.door li { padding: 1.125rem 1.25rem; border: 1px solid var(--line); border-radius: 1rem; background: var(--raised) }
.door h2 { margin: 0 0 .75rem; font-size: 1rem; font-weight: 620 }
.door li p { margin: 0; padding: .625rem .875rem; border-radius: .75rem; background: var(--ground); font-size: .9375rem }
.door li:nth-child(2) p { border-inline-start: 3px solid var(--focus) }
.door a { display: inline-block; margin-top: 1rem; padding: .75rem 1.5rem; border-radius: .75rem; background: var(--accent); color: var(--on-accent); font-weight: 600; text-decoration: none }
:focus-visible { outline: 2px solid var(--focus); outline-offset: 2px }
@media (max-width: 48rem) { .bar { gap: .375rem .75rem; padding: .5rem .75rem } .panes { grid-template-columns: 1fr; grid-template-rows: minmax(0, 1fr) auto } aside { max-height: 9rem; border-inline-start: 0; border-top: 1px solid var(--line) } .empty, .bar label > span { display: none } }
`;
const styleHash = `sha256-${hash('sha256', style, 'base64')}`;

const playgroundHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': `default-src 'none'; script-src 'self'; style-src '${styleHash}'; connect-src 'self'; img-src data:; frame-ancestors 'none'; base-uri 'none'; form-action 'self'`,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'same-origin',
  'cache-control': 'no-store',
  vary: 'accept-language',
};

/** `view`: null without a session. */
function playgroundPage({ language, door, signIn }: PageWords, view: PlaygroundView | null): string {
  const settings = JSON.stringify(view).replaceAll('<', '\\u003c');
  const said = [door.wish, door.question, door.answer];
  const steps = door.steps.map((step, index) => `<li><h2>${step}</h2><p>${said[index]}</p></li>`).join('');
  const body = view
    ? `<script type="application/json" id="settings">${settings}</script><main></main>`
    : `<main><div class="door"><h1>Interlude</h1><p>${door.lead}</p><a href="/auth/login?to=playground">${signIn}</a><ol>${steps}</ol><p>${door.waits}</p></div></main>`;
  return `<!doctype html><html lang="${language}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Interlude</title><style>${style}</style><script type="module" src="/playground.js"></script></head><body>${body}</body></html>`;
}
