/** The installed package of the service: an agent and a tool of one's own, from a folder with nothing else in it. */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDeployment, someKeys } from '../e2e/deployment.ts';
import type { Deployment } from '../e2e/deployment.ts';
import { untilReady } from '../e2e/processes.ts';
import { createOpenAIServer } from '../servers/openai-server.ts';
import { installService, withTools } from './installed.ts';

const run = promisify(execFile);

const tool = `
import { defineTool } from '@interlude-ai/tools';
import { z } from 'zod';

export const book = defineTool({
  name: 'book',
  description: 'Books a table.',
  input: z.object({ people: z.number() }),
  async run({ people }, { elicit }) {
    const answer = await elicit('When?', z.object({ time: z.string() }));
    return answer.status === 'accept' ? 'booked for ' + people + ' at ' + answer.content.time : 'not booked';
  },
});
`;

const agents = (baseURL: string) => `
providers: { openai-compatible: { baseURL: ${baseURL}, apiKeyEnv: MODEL_API_KEY } }
agents:
  assistant: { model: 'openai-compatible:any', tools: { folder: ./tools } }
`;

const stack = new AsyncDisposableStack();
let deployment: Deployment;
let home: string;

beforeAll(async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'interlude-service-'));
  stack.defer(() => rmSync(folder, { recursive: true, force: true }));
  home = await installService(folder, ['zod']);
  const model = await createOpenAIServer({
    reply: ({ messages }) => {
      const last = messages.at(-1);
      return last?.role === 'tool'
        ? { kind: 'text', chunks: [`The tool says: ${String(last.content)}`] }
        : { kind: 'tool-calls', calls: [{ name: 'book', arguments: '{"people":4}' }] };
    },
  });
  stack.defer(() => model.stop());
  mkdirSync(path.join(folder, 'tools'));
  writeFileSync(path.join(folder, 'tools/book.ts'), tool);
  writeFileSync(path.join(folder, 'agents.yaml'), agents(model.baseURL));
  deployment = await createDeployment({
    env: {
      INTERLUDE_KEYS: someKeys,
      INTERLUDE_CONFIG: path.join(folder, 'agents.yaml'),
      MODEL_API_KEY: 'a key',
    },
  });
  stack.defer(() => deployment.stop());
}, 180_000);
afterAll(() => stack.disposeAsync());

test('its program says its version and its commands, on this Node', async () => {
  const program = path.join(home, 'src/cli/interlude.mjs');
  const { stdout } = await run(process.execPath, [program, '--help'], { env: withTools() });
  expect(stdout).toMatch(/^ +start .*run everything on this machine/m);
});

test('a turn asks, is answered and ends, with a tool of the folder', async () => {
  const service = deployment.spawn('start', {}, { checkout: home, program: 'src/cli/interlude.mjs' });
  await untilReady(service, deployment.baseUrl);
  const asked: string[] = [];
  const client = deployment.client('alice');
  let last;
  const turn = client.start(
    { message: { text: 'a table for four' } },
    {
      onElicitation: ({ message }) => {
        asked.push(message);
        return { action: 'accept', content: { time: '19:00' } };
      },
    },
  );
  for await (const view of turn) last = view;
  expect(asked).toEqual(['When?']);
  expect(last).toMatchObject({ status: 'completed' });
  expect(JSON.stringify(last?.parts)).toContain('The tool says: booked for 4 at 19:00');
});
