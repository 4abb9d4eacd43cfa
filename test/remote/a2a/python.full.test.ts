/** Remote agents on Python's SDK, in both versions of A2A. */
import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { accept, asTurn } from '../../asking/asking-service.ts';
import { freePort } from '../../free-port.ts';
import { pythonWith } from '../../programs/python-package.ts';
import { startPeer } from '../../servers/everything-server.ts';
import type { PeerProcess } from '../../servers/everything-server.ts';
import { fastmcpVersions } from '../../servers/fastmcp.ts';
import { startService } from '../../service/service.ts';
import { useDevelopmentServer } from '../../service/use-development-server.ts';
import type { Caller } from '../../service/user.ts';

/** A remote agent on Python's SDK, served by the web server in FastMCP's environment. */
interface PythonAgent extends PeerProcess {
  card: string;
  /** What it says it did, in its order. */
  did(): string[];
}

type PythonAgentStart = { kind: 'ready'; agent: PythonAgent } | { kind: 'missing'; why: string };

async function startPythonAgent(version: '1.0' | '0.3'): Promise<PythonAgentStart> {
  const sdk = await pythonWith('a2a-sdk', '1.3.0');
  if (sdk.kind === 'missing') return sdk;
  const web = await pythonWith('fastmcp', fastmcpVersions.third);
  if (web.kind === 'missing') return web;
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const script = path.join(import.meta.dirname, 'python-agent.py');
  const { PATH = '', HOME = '' } = process.env;
  const packages = path.join(sdk.executable, '../../lib');
  const agent = await startPeer(web.executable, [script, String(port), version, packages], {
    env: { PATH, HOME, PYTHONDONTWRITEBYTECODE: '1' },
    url,
    ready: /Uvicorn running/,
  });
  const did = () => [...agent.output().matchAll(/^did: (.*)$/gm)].map(([, what = '']) => what);
  return { kind: 'ready', agent: { ...agent, card: `${url}/.well-known/agent-card.json`, did } };
}

const stack = new AsyncDisposableStack();
const agents: Record<string, PythonAgent> = {};
const temporal = useDevelopmentServer();
let missing: string | undefined;
let alice: Caller;

beforeAll(async () => {
  for (const [name, version] of [
    ['python', '1.0'],
    ['oldpython', '0.3'],
  ] as const) {
    const started = await startPythonAgent(version);
    if (started.kind === 'missing') return void (missing = started.why);
    stack.defer(() => started.agent.stop());
    agents[name] = started.agent;
  }
  const service = await startService({
    temporal,
    env: {
      INTERLUDE_CONFIG: fileURLToPath(new URL('../../fixtures/remote-python-agents.yaml', import.meta.url)),
      PYTHON_CARD: agents['python']?.card ?? '',
      OLDPYTHON_CARD: agents['oldpython']?.card ?? '',
    },
  });
  stack.defer(() => service.stop());
  alice = await service.as('alice');
}, 180_000);
afterAll(() => stack.disposeAsync());

test.for(['python', 'oldpython'])('%s', async (name, { skip }) => {
  if (missing !== undefined) return skip(missing);
  const ask = (task: string) =>
    asTurn(alice, randomUUID(), (conversation) => alice.chat(`ask the ${name} to ${task}`, { conversation }));
  expect((await (await ask('answer three')).end()).text).toBe('I was told: three');
  expect((await (await ask('fail no seats')).end()).error).toContain('Its words: "no seats"');

  const asked = await ask('ask Which city?');
  expect(await asked.question(0)).toMatchObject({ message: 'Which city?' });
  await asked.answer(0, accept({ answer: 'Lisbon' }));
  expect((await asked.end()).text).toBe('I was told: You said: Lisbon');

  const login = await ask('login Sign in at https://login.example/a');
  expect(await login.question(0)).toMatchObject({ mode: 'url', url: 'https://login.example/a' });
  expect((await login.end()).text).toBe('I was told: Signed in.');

  const left = await ask('ask Which city?');
  await left.question(0);
  await alice.cancel(left.conversation);
  await left.end();
  await expect.poll(() => agents[name]?.did().at(-1)).toBe('cancel');
});
