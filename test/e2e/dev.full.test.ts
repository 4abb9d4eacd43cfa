/** `interlude dev`, and processes that are sent SIGHUP: agents and tools change while they run, and what waits goes on. */
import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { Client } from '@interlude-ai/client/client.ts';
import { createOpenAIServer } from '../servers/openai-server.ts';
import type { OpenAIServer } from '../servers/openai-server.ts';
import { fromGlobalSetup } from '../setup/shared.ts';
import { createDeployment, showOutput, someKeys } from './deployment.ts';
import type { Deployment } from './deployment.ts';
import type { ServiceProcess } from './processes.ts';
import { textOf } from './watch.ts';

const tool = (when: string) => `
import { defineTool } from '@interlude-ai/tools';
import { z } from 'zod';

export const book = defineTool({
  name: 'book',
  description: 'Books a table.',
  input: z.object({ people: z.number() }),
  async run({ people }, { elicit }) {
    const answer = await elicit('${when}', z.object({ time: z.string() }));
    return answer.status === 'accept' ? '${when} ' + people + ' at ' + answer.content.time : 'not booked';
  },
});
`;

const agents = (baseURL: string, instructions: string) => `
providers: { openai-compatible: { baseURL: ${baseURL}, apiKeyEnv: MODEL_API_KEY } }
agents:
  assistant:
    model: openai-compatible:any
    tools: { folder: ./tools }
    instructions: ${instructions}
`;

const stack = new AsyncDisposableStack();
const folder = mkdtempSync(path.join(tmpdir(), 'interlude-dev-'));
stack.defer(() => rmSync(folder, { recursive: true, force: true }));
const agentsFile = path.join(folder, 'agents.yaml');
const toolFile = path.join(folder, 'tools/book.ts');
let model: OpenAIServer;
let deployment: Deployment;
let client: Client;

beforeAll(async () => {
  model = await createOpenAIServer({
    reply: ({ messages }) => {
      const last = messages.at(-1);
      return last?.role === 'tool'
        ? { kind: 'text', chunks: [String(last.content)] }
        : { kind: 'tool-calls', calls: [{ name: 'book', arguments: '{"people":4}' }] };
    },
  });
  stack.defer(() => model.stop());
  mkdirSync(path.dirname(toolFile));
  writeFileSync(agentsFile, agents(model.baseURL, 'Be kind.'));
  writeFileSync(toolFile, tool('When?'));
  deployment = await createDeployment({
    env: { INTERLUDE_KEYS: someKeys, INTERLUDE_CONFIG: agentsFile, MODEL_API_KEY: 'a key' },
  });
  stack.defer(() => deployment.stop());
  client = deployment.client('alice');
});
afterAll(() => stack.disposeAsync());
afterEach(showOutput(() => deployment));

/** A turn whose person answers when `time` is known. */
function bookTable(time: Promise<string>) {
  const asked = Promise.withResolvers<string>();
  const end = async () => {
    let last;
    const turn = client.start(
      { message: { text: 'a table for four' } },
      {
        async onElicitation({ message }) {
          asked.resolve(message);
          return { action: 'accept', content: { time: await time } };
        },
      },
    );
    for await (const view of turn) last = view;
    return last && textOf(last);
  };
  return { asked: asked.promise, said: end() };
}

/** Waits for what a process writes after `change`. */
async function changes(service: ServiceProcess, change: () => void, words: RegExp): Promise<void> {
  const before = service.output().length;
  change();
  await expect.poll(() => service.output().slice(before), { interval: 20 }).toMatch(words);
}

test('changed agents and tools are active at once, mistakes change nothing, and what waits goes on', async () => {
  const service = await deployment.start('dev');
  onTestFinished(async () => void (await service.kill('SIGTERM')));
  const later = Promise.withResolvers<string>();
  const waiting = bookTable(later.promise);
  expect(await waiting.asked).toBe('When?');

  await changes(
    service,
    () => writeFileSync(toolFile, tool('At what time?')),
    /changes applied: tools of assistant/,
  );
  const again = bookTable(Promise.resolve('20:00'));
  expect(await again.asked).toBe('At what time?');
  expect(await again.said).toBe('At what time? 4 at 20:00');
  later.resolve('19:00');
  expect(await waiting.said).toBe('When? 4 at 19:00');

  const broken = tool('Never?').replace('const answer', 'const const');
  await changes(
    service,
    () => writeFileSync(toolFile, broken),
    /last good version stays active:\s+┊ .*tools\/book\.ts:10:11: /,
  );
  expect(await bookTable(Promise.resolve('21:00')).asked).toBe('At what time?');
  await changes(service, () => writeFileSync(toolFile, tool('At what time?')), /mistakes corrected/);

  await changes(
    service,
    () => writeFileSync(toolFile, tool('Enter your password')),
    /elicit\(\) will refuse these questions:\s+┊ .*tools\/book\.ts:\d+: elicit\("Enter your password"\): /,
  );
  await changes(
    service,
    () => writeFileSync(toolFile, tool('At what time?')),
    /changes applied: tools of assistant/,
  );

  const misspelt = agents(model.baseURL, 'Be brief.').replace('tools:', 'tolls:');
  await changes(
    service,
    () => writeFileSync(agentsFile, misspelt),
    /agents\.yaml:6, agents\.assistant\.tolls: unknown/,
  );
  const evening = Promise.withResolvers<string>();
  const kind = bookTable(evening.promise);
  await kind.asked;
  await changes(
    service,
    () => writeFileSync(agentsFile, agents(model.baseURL, 'Be brief.')),
    /changes applied: agent assistant/,
  );
  evening.resolve('22:00');
  await kind.said;
  expect(model.requests.at(-1)?.body.messages[0]?.content).toBe('Be kind.');
  await bookTable(Promise.resolve('22:00')).said;
  expect(model.requests.at(-1)?.body.messages[0]?.content).toBe('Be brief.');
  expect((await fetch(`${deployment.baseUrl}/playground/problems`)).status).toBe(404);
});

test('processes in production read the agents file again at SIGHUP', async () => {
  const env = {
    TEMPORAL_ADDRESS: await fromGlobalSetup('/temporal'),
    TEMPORAL_TASK_QUEUE: randomUUID(),
    INTERLUDE_DATA: path.join(deployment.dataDir, 'production'),
  };
  const processes = await Promise.all([deployment.start('server', env), deployment.start('worker', env)]);
  const both = `${agents(model.baseURL, 'Be brief.')}  second: { model: scripted }\n`;
  writeFileSync(agentsFile, both);
  writeFileSync(toolFile, tool('At which hour?'));
  for (const service of processes)
    await changes(service, () => process.kill(service.pid, 'SIGHUP'), /needs providers\.scripted\.script/);
  const second = both.replace('model: scripted', 'model: openai-compatible:any');
  for (const service of processes) {
    writeFileSync(agentsFile, second.replace('second', 'first'));
    await changes(service, () => process.kill(service.pid, 'SIGHUP'), /reading the agents file again/);
    // A worker is still reading.
    writeFileSync(agentsFile, second);
    await changes(service, () => process.kill(service.pid, 'SIGHUP'), /changes applied: .*agent second/);
  }
  expect((await client.agents()).map(({ id }) => id)).toEqual(['assistant', 'second']);
  expect(await bookTable(Promise.resolve('23:00')).asked).toBe('At which hour?');
  writeFileSync(agentsFile, agents(model.baseURL, 'Be brief.'));
  for (const service of processes)
    await changes(
      service,
      () => process.kill(service.pid, 'SIGHUP'),
      /changes applied: agent second \(removed\)/,
    );
});
