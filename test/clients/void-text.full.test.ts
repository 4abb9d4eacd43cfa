/**
 * A model says a word and breaks off, and says something else when it is called again: what each client is left with that
 * read the word, and what those read who come later. In a turn's first step, and in a later one.
 */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { followNews } from '../../src/activities/push/push-activities.ts';
import { createClient } from '@interlude-ai/client/client.ts';
import type { Client } from '@interlude-ai/client/client.ts';
import type { TurnView } from '@interlude-ai/client/turn-view.ts';
import { toAnswer } from '../../src/api/slack/vocabulary/answer.ts';
import { en } from '../../src/api/slack/vocabulary/words/en.ts';
import { turnEntries } from '../../src/storage/log/turn-entries.ts';
import { emptyTurn, foldTurn } from '../../src/turn/fold-turn.ts';
import { answerOf, connectAgent } from '../api/a2a/a2a-client.ts';
import { connect as connectAgUi } from '../api/ag-ui/stock-client.ts';
import { connectClient } from '../mcp/mcp-client.ts';
import { createOpenAIServer } from '../servers/openai-server.ts';
import type { ChatRequest, Reply } from '../servers/openai-server.ts';
import { useService } from '../service/use-service.ts';
import { createChatClient } from './chat-client.ts';
import type { ChatClient, Version } from './chat-client.ts';
import { createOpenAI } from './openai-client.ts';

let alice: Client;
/** Of the model's next two calls, the first breaks off once this is resolved. */
let heard: PromiseWithResolvers<void>;
let calls = 0;
/** Of each message, how often the second step of its turn was begun. */
const begun = new Map<string, number>();

/** Says something and hands on a task; then breaks off twice. */
function look({ messages }: ChatRequest): Reply {
  if (messages.at(-1)?.role !== 'tool') {
    const task = { name: 'agent__searcher', arguments: '{"task":"Search."}' };
    return { kind: 'tool-calls', say: 'Looking.', calls: [task] };
  }
  const asked = String(messages.findLast(({ role }) => role === 'user')?.content);
  const nth = (begun.get(asked) ?? 0) + 1;
  begun.set(asked, nth);
  if (nth === 1) return { kind: 'text', chunks: brokenOff() };
  return nth === 2 ? { kind: 'cut', chunks: ['Half again '] } : { kind: 'text', chunks: ['Created', '.'] };
}

async function* brokenOff(): AsyncGenerator<string> {
  yield 'Half a ';
  await heard.promise;
  throw new Error('told to break off');
}

const { service } = useService({
  async needs(stack) {
    const model = await createOpenAIServer({
      reply(request) {
        if (request.model === 'looking') return look(request);
        if (request.model === 'searching') return { kind: 'text', chunks: ['Found.'] };
        return calls++ % 2 === 0
          ? { kind: 'text', chunks: brokenOff() }
          : { kind: 'reasoning', thoughts: ['Hm', 'm.'], chunks: ['Whole', ' again.'] };
      },
    });
    stack.defer(() => model.stop());
    const folder = await mkdtemp(path.join(tmpdir(), 'interlude-void-'));
    stack.defer(() => rm(folder, { recursive: true, force: true }));
    const agents = `
providers: { openai-compatible: { baseURL: ${model.baseURL} } }
agents:
  thinker: { model: 'openai-compatible:any' }
  looker: { model: 'openai-compatible:looking', agents: [searcher] }
  searcher: { model: 'openai-compatible:searching' }
`;
    const file = path.join(folder, 'agents.yaml');
    await writeFile(file, agents);
    return { env: { INTERLUDE_CONFIG: file } };
  },
});
beforeAll(async () => {
  alice = createClient({ baseUrl: service.baseUrl, token: await service.token('alice') });
});

const textsIn = ({ parts }: { parts: readonly { type?: string; kind?: string; text?: string }[] }) =>
  parts.flatMap(({ text }) => text ?? []);

/** Reads on in the background. */
function watch(views: AsyncGenerator<TurnView, void>) {
  const hears = Promise.withResolvers<void>();
  const last = (async () => {
    let view: TurnView | undefined;
    for await (view of views) if (textsIn(view).includes('Half a ')) hears.resolve();
    return view;
  })();
  return { hears: hears.promise, last };
}

async function open(version: Version, conversation: string, takesBack: boolean): Promise<ChatClient> {
  const { baseUrl } = service;
  const headers: Record<string, string> = takesBack ? { 'x-supports-reset-step': 'true' } : {};
  return createChatClient(version, { baseUrl, conversation, headers, token: await service.token('alice') });
}

test('whoever can take text back is left with what counts, and nobody who comes later reads anything else', async () => {
  heard = Promise.withResolvers();
  const conversation = randomUUID();
  service.begun(conversation);
  const message = {
    conversationId: conversation,
    agentId: 'thinker',
    message: { id: randomUUID(), text: 'Think.' },
  };
  const own = watch(alice.start(message));
  await own.hears;
  const follower = watch(alice.follow(conversation));
  const takesBack = await open(7, conversation, true);
  const others = await Promise.all(([7, 6, 5] as const).map((version) => open(version, conversation, false)));
  const chats = [takesBack, ...others];
  const over = chats.map((chat) => chat.resume());
  const hear = chats.map((chat) => chat.until((part) => 'text' in part && part.text === 'Half a '));
  await Promise.all([follower.hears, ...hear]);
  heard.resolve();
  await Promise.all(over);

  const whole = ['Hmm.', 'Whole again.'];
  const views = [own.last, follower.last, lastOf(alice.start(message))];
  for (const view of await Promise.all(views)) expect(view && textsIn(view)).toEqual(whole);
  expect(textsIn({ parts: takesBack.parts() })).toEqual(whole);
  expect(takesBack.error).toBeUndefined();
  for (const chat of others) {
    expect([chat.status, chat.error]).toEqual(['ready', undefined]);
    expect(textsIn({ parts: chat.parts() })).toEqual(['Half a ', ...whole]);
    expect(chat.parts().filter((part) => 'text' in part)[0]).toMatchObject({
      providerMetadata: { interlude: { void: true } },
    });
  }
  const { messages } = await alice.conversation(conversation);
  expect(textsIn(messages.items.at(-1)!)).toEqual(whole);
  const types: string[] = [];
  for await (const { event } of alice.events(conversation)) {
    types.push(event.type);
    expect(JSON.stringify(event)).not.toContain('Half');
    if (event.type === 'turn-ended') break;
  }
  expect(types).toContain('reset-step');
});

test('OpenAI’s clients keep the word, with what counts below it; a completion has only that', async () => {
  const openai = await createOpenAI(service, 'alice');
  const request = { model: 'thinker', messages: [{ role: 'user' as const, content: 'Think.' }] };
  heard = Promise.withResolvers();
  let said = '';
  for await (const chunk of await openai.chat.completions.create({ ...request, stream: true })) {
    said += chunk.choices[0]?.delta.content ?? '';
    if (said !== '') heard.resolve();
  }
  expect(said).toBe('Half a \n\nWhole again.');
  const { choices } = await openai.chat.completions.create(request);
  expect(choices[0]?.message.content).toBe('Whole again.');
});

test('a client of AG-UI takes the word back, and is left with what counts', async () => {
  heard = Promise.withResolvers();
  const client = await connectAgUi(service, { agent: 'thinker' });
  client.agent.subscribe({ onTextMessageContentEvent: () => heard.resolve() });
  const { events } = await client.run('Think.');
  expect(events).toContainEqual(expect.objectContaining({ delta: 'Half a ' }));
  expect(client.texts()).toEqual(['Whole again.']);
});

test('in a later step, nothing of the steps before is lost to anybody who watches', async () => {
  heard = Promise.withResolvers();
  const conversation = randomUUID();
  service.begun(conversation);
  const message = {
    conversationId: conversation,
    agentId: 'looker',
    message: { id: randomUUID(), text: 'Look while I watch.' },
  };
  const own = watch(alice.start(message));
  await own.hears;
  const whole = readWhole(message);
  const chats = await Promise.all(
    ([7, 5] as const).map((version) => open(version, conversation, version === 7)),
  );
  const over = chats.map((chat) => chat.resume());
  await Promise.all(chats.map((chat) => chat.until((part) => 'text' in part && part.text === 'Half a ')));
  heard.resolve();
  await Promise.all(over);

  for (const view of [await own.last, await lastOf(alice.start(message))])
    expect(view && textsIn(view)).toEqual(bothSteps);
  for (const chat of chats) {
    const counted = chat
      .parts()
      .filter((part) => !('providerMetadata' in part && part.providerMetadata?.['interlude']?.['void']));
    expect(textsIn({ parts: counted })).toEqual(bothSteps);
  }
  expect(await whole).toEqual(bothSteps);
  expect(await readWhole(message)).toEqual(bothSteps);
  const { messages } = await alice.conversation(conversation);
  expect(textsIn(messages.items.at(-1)!)).toEqual(bothSteps);
});

test('in a later step, nothing of the steps before is lost to OpenAI’s clients, A2A, its notifications, MCP and Slack', async () => {
  heard = Promise.withResolvers();
  heard.resolve();
  const said = bothSteps.join('\n\n');
  const openai = await createOpenAI(service, 'alice');
  const complete = async () => {
    const { choices } = await openai.chat.completions.create(
      { model: 'looker', messages: [{ role: 'user', content: 'Look for OpenAI.' }] },
      { headers: { 'idempotency-key': 'looked-for' } },
    );
    return choices[0]?.message.content;
  };
  const agent = await connectAgent(service, { agent: 'looker' });
  const [completion, task] = await Promise.all([complete(), agent.send('Look for A2A.')]);
  expect([completion, await complete()]).toEqual([said, said]);
  expect([answerOf(task), answerOf(await agent.get(task.id))]).toEqual([said, said]);
  expect(['Look for OpenAI.', 'Look for A2A.'].map((text) => begun.get(text))).toEqual([3, 3]);

  const { id: turnId, contextId: conversationId } = task;
  await using mcp = await connectClient(service);
  const result = await mcp.callTool({ name: 'wait_for_turn', arguments: { conversationId, turnId } });
  expect(result.structuredContent).toMatchObject({ status: 'completed', text: said });
  const { contents } = await mcp.readResource({ uri: `interlude://conversations/${conversationId}` });
  expect(contents).toMatchObject([{ text: expect.stringContaining(said) }]);

  const { turnLog } = service.storage;
  const turn = { tenant: 'demo', conversation: conversationId, turnId };
  const { entries } = await turnEntries(turnLog, turn, await turnLog.latest(turn));
  const { parts } = toAnswer(foldTurn(emptyTurn, entries), en);
  expect(parts).toMatchObject([{ markdown: said }]);
  const config = { turn, isStructured: false, position: 0 };
  const news = await followNews(service.storage, config, { after: null, publicUrl: service.baseUrl });
  expect(answerOf(news!.known.at(-1)!.task)).toBe(said);
});

const bothSteps = ['Looking.', 'Created.'];

/** As JSON, when the turn is over. */
async function readWhole({ conversationId: id, agentId, message }: Parameters<Client['start']>[0]) {
  const { id: messageId, text } = message;
  const response = await fetch(`${service.baseUrl}/run/api/chat`, {
    method: 'POST',
    headers: { authorization: `Bearer ${await service.token('alice')}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      id,
      agentId,
      stream: false,
      messages: [{ id: messageId, role: 'user', parts: [{ type: 'text', text }] }],
    }),
  });
  const { message: whole } = (await response.json()) as { message: Parameters<typeof textsIn>[0] };
  return textsIn(whole);
}

async function lastOf(views: AsyncGenerator<TurnView, void>): Promise<TurnView | undefined> {
  let last: TurnView | undefined;
  for await (last of views);
  return last;
}
