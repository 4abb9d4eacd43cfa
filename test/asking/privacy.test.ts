/** What a server asks, what people answer and what the server keeps with us stays out of history, logs and plain tables. */
import { randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { Client, Connection } from '@temporalio/client';
import type { ServiceProcess } from '../e2e/processes.ts';
import { createDeployment, showOutput } from '../e2e/deployment.ts';
import type { Deployment } from '../e2e/deployment.ts';
import { readable } from '../connections/secrets/places.ts';
import { freePort } from '../free-port.ts';
import { asks, expired, form, page, startScriptedMcpServer } from '../servers/scripted-mcp-server.ts';
import type { ScriptedMcpServer } from '../servers/scripted-mcp-server.ts';
import { callOf } from '../service/asking.ts';
import { accept, asTurn, roundsAgents } from './asking-service.ts';
import { idOf } from '../workflows/waiting.ts';
import type { ObservedTurn } from '../workflows/waiting.ts';

let deployment: Deployment;
let service: ServiceProcess;
let server: ScriptedMcpServer;
let temporalPort: number;
const stack = new AsyncDisposableStack();

beforeAll(async () => {
  server = await startScriptedMcpServer();
  stack.defer(() => server.stop());
  temporalPort = await freePort();
  deployment = await createDeployment({
    env: {
      INTERLUDE_CONFIG: roundsAgents,
      ASKING_URL: server.url,
      TEMPORAL_PORT: String(temporalPort),
      LOG_LEVEL: 'trace',
    },
  });
  stack.defer(() => deployment.stop());
  service = await deployment.start('start');
});
afterAll(() => stack.disposeAsync());

afterEach(showOutput(() => deployment));

/** Everything that was said, each as a unique word. */
const said = {
  input: 'Xinputx',
  message: 'Xmessagex',
  field: 'Xfieldx',
  title: 'Xtitlex',
  key: 'Xkeyx',
  state: 'Xstatex',
  nextState: 'Xnextx',
  path: 'Xpathx',
  answer: 'Xanswerx',
  result: 'Xresultx',
};

test('history and logs know that somebody was asked and what they decided, and nothing of what was said', async () => {
  const properties = { [said.field]: { type: 'string', title: said.title } };
  server.play(
    asks({ [said.key]: form(said.message, properties) }, said.state),
    expired,
    asks({ [said.key]: form(said.message, properties) }, said.state),
    asks({ page: page(`https://example.com/${said.path}`, said.message) }, said.nextState),
    { resultType: 'complete', content: [{ type: 'text', text: said.result }] },
  );
  const alice = await deployment.caller('alice');
  const turn = await asTurn(alice, randomUUID(), (conversation) =>
    alice.chat(callOf(['ask', { words: said.input }]), { conversation }),
  );
  await turn.answer(0, accept({ [said.field]: said.answer }));
  await turn.answer(1, accept());
  const { text, questions } = await turn.end();
  expect(text).toBe(said.result);
  expect(server.calls).toHaveLength(5);

  const history = await historyOf(turn);
  const log = service.output();
  for (const { elicitationId } of questions) expect(history).toContain(elicitationId);
  expect(log).toContain('is asked by asking (ask, form)');
  for (const [what, word] of Object.entries(said)) {
    expect([what, history.includes(word)]).toEqual([what, false]);
    expect([what, log.includes(word)]).toEqual([what, false]);
  }
  const tables = await databaseBytes();
  expect(tables).toContain(questions[0]?.elicitationId);
  for (const word of [said.answer, said.state, said.nextState])
    expect([word, tables.includes(word)]).toEqual([word, false]);
});

/** Every byte of it that can be read, payloads decoded. */
async function historyOf(turn: ObservedTurn): Promise<string> {
  const connection = await Connection.connect({ address: `127.0.0.1:${temporalPort}` });
  try {
    const { workflow } = new Client({ connection });
    const handle = workflow.getHandle(idOf(turn));
    return readable(await handle.fetchHistory());
  } finally {
    await connection.close();
  }
}

async function databaseBytes(): Promise<string> {
  const folder = path.join(deployment.dataDir, 'interlude');
  const files = (await readdir(folder)).filter((name) => name.startsWith('interlude.db'));
  expect(files.length).toBeGreaterThan(0);
  const contents = await Promise.all(files.map((name) => readFile(path.join(folder, name), 'latin1')));
  return contents.join('\n');
}
