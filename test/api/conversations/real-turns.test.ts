/** Turns of every kind through the whole service: what the feed says about them is what its contract says. */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { KnownEventSchema } from '@interlude-ai/core/contract/stream-event.ts';
import type { StreamEvent } from '@interlude-ai/core/contract/stream-event.ts';
import { createOpenAIServer } from '../../servers/openai-server.ts';
import type { OpenAIServer, Reply } from '../../servers/openai-server.ts';
import { connectAccount } from '../../service/connect-account.ts';
import { useService } from '../../service/use-service.ts';
import { isEnd, openFeed } from './feed-reader.ts';
import type { FeedReader } from './feed-reader.ts';

const script = path.resolve(import.meta.dirname, '../../fixtures/script.ts');
const replies: Reply[] = [
  { kind: 'cut', chunks: ['Half a '] },
  { kind: 'reasoning', thoughts: ['Hm', 'm.'], chunks: ['Whole', ' again.'] },
];

let model: OpenAIServer;
let folder: string;
const feeds: FeedReader[] = [];

beforeAll(async () => {
  model = await createOpenAIServer({
    reply: (_, index) => replies[index] ?? { kind: 'text', chunks: ['?'] },
  });
  folder = await mkdtemp(path.join(tmpdir(), 'interlude-feed-'));
  const agents = `
providers: { scripted: { script: ${script} }, openai-compatible: { baseURL: ${model.baseURL} } }
servers: { tracker: { title: Tracker, url: '\${TRACKER_URL}' } }
agents:
  assistant: { model: scripted, servers: [tracker], maxSteps: 3, agents: [researcher] }
  researcher: { model: scripted, servers: [tracker] }
  thinker: { model: 'openai-compatible:any' }
`;
  await writeFile(path.join(folder, 'agents.yaml'), agents);
});
afterAll(async () => {
  await model.stop();
  await rm(folder, { recursive: true });
});
const { service, alice } = useService({
  per: 'test',
  needs: async () => ({ env: { INTERLUDE_CONFIG: path.join(folder, 'agents.yaml') } }),
});
afterEach(() => {
  for (const feed of feeds.splice(0)) feed.close();
});

async function follow(conversation: string): Promise<FeedReader> {
  const url = `${service.baseUrl}/run/v1/conversations/${conversation}/events?operations=true`;
  const feed = await openFeed(url, { authorization: `Bearer ${await service.token('alice')}` });
  feeds.push(feed);
  return feed;
}

/** Each event is one that the contract knows, in a shape that it knows; the numbers have no gaps but merged deltas. */
async function told(conversation: string): Promise<StreamEvent[]> {
  const feed = await follow(conversation);
  const latest = await service.storage.turnLog.latest({ tenant: 'demo', conversation });
  await feed.upTo(() => feed.events.at(-1)?.id === latest);
  for (const { event } of feed.events) expect(KnownEventSchema.parse(event)).toEqual(event);
  return feed.events.map(({ event }) => event);
}

const typesIn = (events: StreamEvent[]) => new Set(events.map(({ type }) => type));
const endsIn = (events: StreamEvent[]) =>
  events.flatMap((event) => (event.type === 'turn-ended' ? event.status : []));
const labelsIn = (events: StreamEvent[]) =>
  events.flatMap((event) => (event.type === 'data-operation' ? event.data.label : []));

test('text, tools, a question, a failure and a delegation are told as the contract says', async () => {
  const conversation = randomUUID();
  const asking = await alice.chat('list my open issues', { conversation });
  const live = await follow(conversation);
  await connectAccount('alice', (await asking.question('pending')).url);
  await asking.finished();
  const seen = await live.upTo(isEnd);
  await (await alice.chat('go round in circles', { conversation })).finished();
  await (await alice.chat('ask the researcher to list my open issues', { conversation })).finished();
  await (await alice.chat('hello', { conversation })).finished();

  const events = await told(conversation);
  expect(endsIn(events)).toEqual(['completed', 'failed', 'completed', 'completed']);
  expect(typesIn(events)).toEqual(
    new Set([
      'turn-started',
      'start-step',
      'text-start',
      'text-delta',
      'text-end',
      'tool-input-available',
      'tool-output-available',
      'elicitation-request',
      'finish-step',
      'data-operation',
      'error',
      'turn-ended',
    ]),
  );
  expect(labelsIn(events).slice(0, 9)).toEqual([
    'Step 1',
    'Calling tracker · connect',
    'Waiting for the user: connect Tracker',
    'Tracker is connected',
    'tracker · connect done',
    'Step 2',
    'Calling tracker · list issues',
    'tracker · list issues done',
    'Step 3',
  ]);
  expect(labelsIn(events)).toContain('Asking researcher');
  expect(labelsIn(events)).toContain('researcher done');
  const delegated = events.filter(({ path: by }) => by !== undefined);
  expect(typesIn(delegated)).toContain('text-delta');
  expect(delegated.every(({ path: by }) => by?.join() === 'researcher')).toBe(true);

  // The reader who watched the first turn live got the same, delta by delta.
  const first = seen.map(({ event }) => event);
  for (const event of first) expect(KnownEventSchema.parse(event)).toEqual(event);
  expect(textIn(first)).toBe(textIn(events.filter(({ turnId }) => turnId === first[0]?.turnId)));
  expect(labelsIn(first)).toEqual(labelsIn(events).slice(0, 9));
});

test('what is cancelled, superseded, or cannot be asked is told as the contract says', async () => {
  const conversation = randomUUID();
  const waiting = await alice.chat('list my open issues', { conversation });
  await waiting.question('pending');
  const next = await alice.chat('list my closed issues', { conversation });
  await waiting.finished();
  await next.question('pending');
  await alice.cancel(conversation);
  await next.finished();
  await (await alice.chat('list my open issues', { conversation, supports: null })).finished();

  const events = await told(conversation);
  expect(endsIn(events)).toEqual(['superseded', 'cancelled', 'completed']);
  expect(typesIn(events)).toContain('tool-auth-required');
  const failed = events.filter(({ type }) => type === 'tool-output-error');
  expect(failed.map((event) => 'outcome' in event && event.outcome)).toEqual([
    'cancel',
    'cancel',
    'not_asked',
  ]);
  expect(labelsIn(events)).toContain('Closed without an answer: connect Tracker');
});

test('what a model took back, and what it thought, is told as the contract says', async () => {
  const conversation = randomUUID();
  service.begun(conversation);
  const { body } = await alice.request('POST', '/run/api/chat', {
    id: conversation,
    agentId: 'thinker',
    stream: false,
    messages: [{ id: 'm1', role: 'user', parts: [{ type: 'text', text: 'Think.' }] }],
  });
  expect(body).toMatchObject({ status: 'completed' });
  const events = await told(conversation);
  expect([...typesIn(events)]).toEqual(
    expect.arrayContaining(['reset-step', 'reasoning-start', 'reasoning-delta', 'reasoning-end']),
  );
  expect(labelsIn(events)).toEqual(['Step 1']);
  expect(textIn(events)).toBe('Whole again.');
});

function textIn(events: StreamEvent[]): string {
  return events.map((event) => (event.type === 'text-delta' ? event.delta : '')).join('');
}
