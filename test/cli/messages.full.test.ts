/** What people read when they have written something wrong: `docs/messages.md` has the answers of the real program and API. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { InjectOptions } from 'fastify';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ask, beginTurn, formRequest, startApi } from '../api/api-under-test.ts';
import type { ApiUnderTest, Who } from '../api/api-under-test.ts';
import { startCommand } from './start-command.ts';

const provider = 'providers: { scripted: { script: ./script.ts } }';
const agents = 'agents: { assistant: { model: scripted } }';
const file = (...lines: string[]) => [provider, ...lines].join('\n');
const withServer = (members: string) =>
  file(`servers: { tracker: { url: "https://tracker.example/mcp", ${members} } }`, agents);

interface Setting {
  mistake: string;
  agentsFile?: string;
  env?: Record<string, string>;
}

const settings: Setting[] = [
  { mistake: 'the path of an agents file that is not there', env: { INTERLUDE_CONFIG: 'agent.yaml' } },
  { mistake: 'a file that is not YAML', agentsFile: 'agents:\n  assistant:\n   model: scripted\n  - x' },
  { mistake: 'no agent', agentsFile: file('agents: {}') },
  { mistake: 'a model without a provider', agentsFile: 'agents: { assistant: { model: gpt-5 } }' },
  {
    mistake: 'a server that is not described',
    agentsFile: file('agents: { assistant: { model: scripted, servers: [tracker] } }'),
  },
  {
    mistake: 'agents that hand each other their tasks',
    agentsFile: file('agents: { a: { model: scripted, agents: [b] }, b: { model: scripted, agents: [a] } }'),
  },
  { mistake: 'a misspelt member', agentsFile: withServer('timeuot: 30s') },
  { mistake: 'a duration without its unit', agentsFile: withServer('timeout: 30') },
  {
    mistake: 'a secret in the agents file',
    agentsFile: withServer('oauth: { clientId: id, clientSecret: hidden }'),
  },
  { mistake: 'a key that is not set', agentsFile: withServer('headersEnv: { x-api-key: TRACKER_KEY }') },
  { mistake: '`PORT=http`', env: { PORT: 'http' } },
  { mistake: '`DATABASE_URL=mysql://…`', env: { DATABASE_URL: 'mysql://db/interlude' } },
  { mistake: 'PostgreSQL without an encryption key', env: { DATABASE_URL: 'postgres://u:p@db/interlude' } },
  { mistake: 'an encryption key of the wrong form', env: { INTERLUDE_KEYS: 'hidden' } },
  { mistake: 'an address of Temporal with a scheme', env: { TEMPORAL_ADDRESS: 'https://temporal:7233' } },
  {
    mistake: 'an issuer without TLS',
    env: { AUTH_ISSUER: 'http://issuer.example', AUTH_CLIENT_ID: 'interlude' },
  },
  { mistake: 'an origin with a path', env: { CORS_ORIGINS: 'https://app.example/chat' } },
];

let api: ApiUnderTest;
let folder: string;
beforeAll(async () => {
  api = await startApi({ env: { RATE_LIMIT_PER_MINUTE: '40' } });
  folder = await mkdtemp(path.join(tmpdir(), 'interlude-messages-'));
});
afterAll(async () => {
  await rm(folder, { recursive: true });
  await api.stop();
});

async function checkedSettings({ agentsFile = file(agents), env }: Setting, at: number): Promise<string> {
  const home = path.join(folder, String(at));
  await mkdir(home);
  await writeFile(path.join(home, 'agents.yaml'), agentsFile);
  const { code, errors } = await startCommand(['config', 'check'], {
    INTERLUDE_CONFIG: path.join(home, 'agents.yaml'),
    INTERLUDE_DATA: folder,
    ...env,
  });
  expect(code).not.toBe(0);
  const [, ...problems] = errors.trim().split('\n');
  return problems.map((line) => line.replace(/^\s*• /, '').replaceAll(`${home}/`, '')).join('<br>');
}

const message = (text: string) => ({ id: 'm1', role: 'user', parts: [{ type: 'text', text }] });
const chat = (id: string, body: object = {}): InjectOptions => ({
  method: 'POST',
  url: '/run/api/chat',
  payload: { agentId: 'assistant', id, messages: [message('hello')], ...body },
});
const form = {
  type: 'object',
  properties: { project: { type: 'string', title: 'Project' }, size: { type: 'integer', maximum: 9 } },
  required: ['project'],
};

interface Request {
  mistake: string;
  who: Who | null;
  /** What must have happened before. */
  given?: () => Promise<unknown>;
  request: InjectOptions;
}

const openForm = async (conversation: string) =>
  ask(api.storage, await beginTurn(api.storage, conversation), {
    request: formRequest(form),
    server: null,
    seenVersion: null,
  });
const respond = (conversation: string, answer: object): InjectOptions => ({
  method: 'POST',
  url: '/run/api/elicitation-responses',
  payload: { conversationId: conversation, elicitationId: `question-of-${conversation}`, ...answer },
});

const requests: Request[] = [
  { mistake: 'no token', who: null, request: chat('c1') },
  {
    mistake: 'a token that no issuer signed',
    who: null,
    request: { ...chat('c1'), headers: { authorization: 'Bearer hidden' } },
  },
  {
    mistake: 'a body that is not JSON',
    who: 'alice',
    request: {
      method: 'POST',
      url: '/run/api/chat',
      headers: { 'content-type': 'application/json' },
      payload: '{"id":',
    },
  },
  {
    mistake: 'a form instead of JSON',
    who: 'alice',
    request: {
      method: 'POST',
      url: '/run/api/chat',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      payload: 'id=1',
    },
  },
  { mistake: 'an agent that is not there', who: 'alice', request: chat('c1', { agentId: 'asistant' }) },
  { mistake: 'no message', who: 'alice', request: chat('c1', { messages: [] }) },
  {
    mistake: 'a message while the turn works',
    who: 'alice',
    given: () => beginTurn(api.storage, 'busy'),
    request: chat('busy', { messages: [{ ...message('more'), id: 'm2' }] }),
  },
  {
    mistake: 'an image as a link',
    who: 'alice',
    request: chat('c1', {
      messages: [
        {
          id: 'm1',
          role: 'user',
          parts: [{ type: 'file', mediaType: 'image/png', url: 'https://pictures.example/a.png' }],
        },
      ],
    }),
  },
  {
    mistake: 'an answer that does not fit the form',
    who: 'alice',
    given: () => openForm('misfit'),
    request: respond('misfit', { action: 'accept', content: { size: 12 } }),
  },
  {
    mistake: 'an answer of another user',
    who: 'bob',
    given: () => openForm('of-alice'),
    request: respond('of-alice', { action: 'accept', content: { project: 'Website' } }),
  },
  {
    mistake: 'an action that does not exist',
    who: 'alice',
    request: respond('misfit', { action: 'approve' }),
  },
  {
    mistake: 'a question that is not there',
    who: 'alice',
    request: respond('nowhere', { action: 'decline' }),
  },
  { mistake: 'a path that is not there', who: 'alice', request: { url: '/run/v1/chats' } },
  { mistake: 'another method', who: 'alice', request: { method: 'PUT', url: '/run/api/chat' } },
];

/** What a person reads of the problem document: its code, its words, and the places in the body. */
async function answered({ who, given, request }: Request): Promise<string> {
  await given?.();
  const response = await (who === null ? api.app.inject(request) : api.send(who, request));
  expect(response.statusCode).toBeGreaterThanOrEqual(400);
  return written(response);
}

function written(response: Awaited<ReturnType<ApiUnderTest['send']>>): string {
  const {
    code,
    title,
    detail,
    errors = [],
  } = response.json<{
    code: string;
    title: string;
    detail?: string;
    errors?: { pointer: string; detail: string }[];
  }>();
  const places = errors
    .filter(({ detail: words }) => !detail?.includes(words))
    .map(({ pointer, detail: words }) => `\`${pointer}\`: ${words}`);
  return [`${response.statusCode} \`${code}\`: ${detail ?? title}`, ...places].join('<br>');
}

async function tooMany(): Promise<string> {
  for (;;) {
    const response = await api.send('stranger', { url: '/run/v1/elicitations' });
    if (response.statusCode !== 429) continue;
    return written(response).replace(/\b\d+ s(econds?)?\b/, '… s');
  }
}

const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll(/<(?!br>)/g, '&lt;');
const table = (rows: [string, string][]) =>
  rows.map(([mistake, words]) => `| ${cell(mistake)} | ${cell(words)} |`).join('\n');

test('thirty mistakes and what is said about them', async () => {
  const inSettings: [string, string][] = [];
  for (const [at, setting] of settings.entries())
    inSettings.push([setting.mistake, await checkedSettings(setting, at)]);
  const inRequests: [string, string][] = [];
  for (const one of requests) inRequests.push([one.mistake, await answered(one)]);
  inRequests.push(['more requests than the limit', await tooMany()]);
  const page = `# Messages

What is said about frequent mistakes: the place, what is wrong, and what to write. All mistakes of the settings are reported at
once. Values are never repeated, because they may be secrets. What to do when something does not work: [troubleshooting](guides/troubleshooting.md).

## Settings

\`interlude config check\`, and every start:

| mistake | message |
|---|---|
${table(inSettings)}

## Requests

[Problem documents](http.md#errors) with a status, a code, a detail and the places in the body:

| mistake | answer |
|---|---|
${table(inRequests)}
`;
  expect(page).not.toContain('hidden');
  expect(inSettings.length + inRequests.length).toBeGreaterThanOrEqual(30);
  await expect(page).toMatchFileSnapshot('../../docs/messages.md');
}, 60_000);
