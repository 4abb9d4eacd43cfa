/** What the model reads where the user cannot be asked: for each kind of question, on each surface. The exact words are in cannot-ask.md. */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import OpenAI from 'openai';
import { expect, test } from 'vitest';
import { contentFromRow } from '../../src/storage/log/coded-rows.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { collect, say } from '../clients/openai-client.ts';
import { bundleTools } from '../durable-tools/bundle-tools.ts';
import { asks, form, page, startScriptedMcpServer } from '../servers/scripted-mcp-server.ts';
import type { ScriptedReply, ScriptedMcpServer } from '../servers/scripted-mcp-server.ts';
import { answer } from '../servers/raw-mcp-server.ts';
import { useService } from '../service/use-service.ts';
import type { Caller } from '../service/user.ts';

const kinds = {
  'an account': 'connect_tracker {}',
  'an approval of a server’s tool': 'guarded__ask {}',
  'an approval of a tool in TypeScript': 'greet {"name":"Ada"}',
  'a server’s form': 'asking__ask {"wants":"form"}',
  'a server’s page': 'asking__ask {"wants":"page"}',
  'a form of a tool in TypeScript': 'status {}',
  "the same with `whenUnsupported: 'defaults'`": 'status {"defaults":true}',
  'a page of a tool in TypeScript': 'mistakes {"kind":"page"}',
  'a question of the model’s own':
    'ask_user {"message":"Where to?","schema":{"type":"object","properties":{"city":{"type":"string","title":"City"}}}}',
};
/** The exact words; docs/chat.md sums them up. */
const expected = readFileSync(new URL('cannot-ask.md', import.meta.url), 'utf8');
const said = Object.values(kinds)
  .map((call) => `call ${call}`)
  .join('\n');

let server: ScriptedMcpServer;
let read: Map<string, unknown>;

const { service } = useService({
  approval: { default: 'never', tools: { greet: 'always' } },
  around,
  async needs(stack) {
    server = await startScriptedMcpServer();
    stack.defer(() => server.stop());
    return {
      env: {
        INTERLUDE_CONFIG: fileURLToPath(new URL('../fixtures/unasked-agents.yaml', import.meta.url)),
        ASKING_URL: server.url,
      },
      tools: { assistant: await bundleTools() },
    };
  },
});

function around(storage: Storage): Storage {
  const { toolCalls } = storage;
  return {
    ...storage,
    toolCalls: {
      ...toolCalls,
      finish: (turn, toolCallId, result, by) => {
        read.set(toolCallId, contentFromRow(JSON.stringify(result.message.content)));
        return toolCalls.finish(turn, toolCallId, result, by);
      },
    },
  };
}

const asksAsTold: ScriptedReply = (message, response) => {
  const { wants } = message.params['arguments'] as { wants: string };
  const asked = wants === 'page' ? page('https://example.com/a') : form('Which city?');
  answer(message, response, asks({ asked }));
};

/** What is read of each call, in the order of the calls. */
async function readIn(turn: () => Promise<unknown>): Promise<string[]> {
  read = new Map();
  server.play(asksAsTold, asksAsTold);
  await turn();
  expect(server.calls.map(({ params }) => params.inputResponses)).toEqual([undefined, undefined]);
  const names = Object.keys(kinds);
  return names.map((_, index) => {
    const [{ output }] = read.get(`call_${index + 1}`) as [{ output: { value: string } }];
    return output.value
      .replaceAll(/127\.0\.0\.1:\d+(?=\/)/g, 'interlude.example')
      .replaceAll(/127\.0\.0\.1:\d+/g, 'asking.example')
      .replaceAll('http://interlude', 'https://interlude')
      .replaceAll('\n', '<br>');
  });
}

const inChat = (by: Caller, supports: string | null) => async () =>
  (await by.chat(said, { supports })).finished();
const whole = (by: Caller) => async () => {
  const id = randomUUID();
  service.begun(id);
  const messages = [{ id: randomUUID(), role: 'user', parts: [{ type: 'text', text: said }] }];
  const supports = { 'x-supports-elicitation': 'true' };
  expect(await by.request('POST', '/run/api/chat', { id, messages, stream: false }, supports)).toMatchObject({
    status: 200,
  });
};
const atOpenAI = (apiKey: string, supports: string | undefined, stream: boolean) => async () => {
  const defaultHeaders = supports === undefined ? {} : { 'x-supports-elicitation': supports };
  const client = new OpenAI({ baseURL: `${service.baseUrl}/run/v1`, apiKey, defaultHeaders });
  if (stream) return collect(await client.chat.completions.create(say(said)));
  return client.chat.completions.create({ ...say(said), stream: false });
};

test('where the user cannot be asked, the model reads the same on every surface', async () => {
  const alice = await service.as('alice');
  const bot = await service.asService();
  const [token, key] = [await service.token('alice'), await service.apiKey()];
  const ways: Record<'user' | 'service', Record<string, () => Promise<unknown>>> = {
    user: {
      'a stream without the header': inChat(alice, null),
      '`stream: false`': whole(alice),
      'an OpenAI stream without the header': atOpenAI(token, undefined, true),
      'OpenAI without a stream': atOpenAI(token, 'true', false),
    },
    service: {
      'a stream': inChat(bot, 'true'),
      '`stream: false`': whole(bot),
      'an OpenAI stream': atOpenAI(key, 'true', true),
      'OpenAI without a stream': atOpenAI(key, 'true', false),
    },
  };
  const columns: string[][] = [];
  for (const group of Object.values(ways)) {
    const [first, ...others] = Object.entries(group);
    const texts = await readIn(first?.[1] ?? Promise.reject);
    for (const [way, turn] of others) expect(await readIn(turn), way).toEqual(texts);
    columns.push(texts);
  }
  const [user, bots] = columns;
  const rows = Object.keys(kinds).map((kind, index) => `| ${kind} | ${user?.[index]} | ${bots?.[index]} |`);
  expect(expected).toContain(rows.join('\n'));
});
