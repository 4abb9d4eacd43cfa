/** What the SDK makes of our chunks is what the view says, however the view came to grow. */
import { readUIMessageStream } from 'ai';
import type { UIMessage, UIMessageChunk } from 'ai';
import { expect, test } from 'vitest';
import { mergeReplay, newView } from '@interlude-ai/client/turn-view.ts';
import type { Fold, Part, TurnView } from '@interlude-ai/client/turn-view.ts';
import { chunksBetween } from '../src/transport.ts';

const text = (id: string, words: string, done = false, step = 0): Part => ({
  kind: 'text',
  id,
  text: words,
  done,
  step,
});
const call = (state: Extract<Part, { kind: 'tool-call' }>['state']): Part => ({
  kind: 'tool-call',
  id: 'c1',
  toolName: 'tracker__list_issues',
  input: { open: true },
  state,
});
const question = (status: 'pending' | 'accept'): Part => ({
  kind: 'elicitation',
  id: 'q1',
  elicitation: {
    type: 'elicitation-request',
    elicitationId: 'q1',
    mode: 'url',
    message: 'Connect',
    url: 'https://a.example',
    context: { trigger: 'credential_required', agent: 'A', server: 's', serverTitle: 'S', host: 'h' },
    status,
    expiresAt: '2026-11-22T10:00:00.000Z',
  },
});
const view = (parts: Part[], more: Partial<TurnView> = {}): TurnView => ({
  ...newView('c', 't1'),
  parts,
  ...more,
});

function chunksOf(views: TurnView[]): UIMessageChunk[] {
  return views.flatMap((next, index) => chunksBetween(views[index - 1], next));
}

async function messageFrom(chunks: UIMessageChunk[]): Promise<UIMessage | undefined> {
  let last: UIMessage | undefined;
  const stream = new ReadableStream<UIMessageChunk>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
  for await (const message of readUIMessageStream({ stream, onError: () => undefined })) last = message;
  return last;
}

const withoutSteps = (message: UIMessage | undefined) =>
  message?.parts.filter(({ type }) => type !== 'step-start');

const story = [
  view([text('1', 'Let me ')]),
  view([text('1', 'Let me look.', true)]),
  view([text('1', 'Let me look.', true), call({ kind: 'running' }), question('pending')]),
  view([text('1', 'Let me look.', true), call({ kind: 'running' }), question('accept')]),
  view([text('1', 'Let me look.', true), call({ kind: 'done', output: [1] }), question('accept')]),
  view(
    [
      text('1', 'Let me look.', true),
      call({ kind: 'done', output: [1] }),
      question('accept'),
      text('2', 'One.', true, 1),
    ],
    { status: 'completed' },
  ),
];

test('a turn seen from its first word is said once, part by part', async () => {
  const chunks = chunksOf(story);
  const types = chunks.map(({ type }) => type);
  expect(types.filter((type) => type === 'start')).toHaveLength(1);
  expect(types.at(-1)).toBe('finish');
  const message = await messageFrom(chunks);
  expect(message?.id).toBe('t1');
  expect(withoutSteps(message)).toMatchObject([
    { type: 'text', text: 'Let me look.', state: 'done' },
    { type: 'dynamic-tool', toolCallId: 'c1', state: 'output-available', input: { open: true }, output: [1] },
    { type: 'data-elicitation-request', id: 'q1', data: { status: 'accept' } },
    { type: 'text', text: 'One.', state: 'done' },
  ]);
});

test('who joins late is told the same in one go', async () => {
  const late = await messageFrom(chunksOf(story.slice(-1)));
  expect(late?.parts).toEqual((await messageFrom(chunksOf(story)))?.parts);
});

test('a replay after a lost connection says nothing twice', async () => {
  const [, , third] = story;
  const unreset = (one: TurnView): Fold => ({ view: one, resets: [] });
  const replayed = story.map((one) => mergeReplay(unreset(third!), unreset(one)).view);
  const chunks = chunksOf([...story.slice(0, 3), ...replayed]);
  expect(chunks.filter(({ type }) => type === 'text-delta')).toHaveLength(3);
  expect((await messageFrom(chunks))?.parts).toEqual((await messageFrom(chunksOf(story)))?.parts);
});

const thought = (id: string, step: number): Part => ({
  kind: 'reasoning',
  id,
  text: 'Hm.',
  done: true,
  step,
});
const looked = [text('1', 'Let me look.', true), call({ kind: 'done', output: [1] })];

test('what a repeated model call said is taken back, and nothing else', async () => {
  const views = [
    view(looked),
    view([...looked, thought('r1', 1)]),
    view([...looked, thought('r1', 1), text('2', 'There ', false, 1)]),
    view([...looked, thought('r1', 1), text('2', 'There ', false, 1), question('pending')]),
    view([...looked, question('pending')]),
    view([...looked, question('accept')]),
    view([...looked, question('accept'), text('3', 'There are', false, 1)]),
    view([...looked, question('accept')]),
    view([...looked, question('accept'), text('4', 'One.', true, 1)], { status: 'completed' }),
  ];
  const chunks = chunksOf(views);
  const message = await messageFrom(chunks);
  expect(withoutSteps(message)).toEqual(withoutSteps(await messageFrom(chunksOf(views.slice(-1)))));
  expect(chunks.filter(({ type }) => type === 'reset-step')).toHaveLength(2);
  // An earlier tool or text is not rebuilt while a person uses it.
  expect(chunks.filter(({ type }) => type === 'tool-input-available')).toHaveLength(1);
  const first = await messageFrom(chunksOf(views.slice(0, 5)));
  expect(withoutSteps(first)).toMatchObject([{ text: 'Let me look.' }, { toolCallId: 'c1' }, { id: 'q1' }]);
});

test('a turn whose first words are taken back begins again', async () => {
  const views = [view([text('1', 'Once up')]), view([]), view([text('2', 'Once upon a time', true)])];
  expect(withoutSteps(await messageFrom(chunksOf(views)))).toMatchObject([{ text: 'Once upon a time' }]);
});

test.each([
  ['failed', ['error', 'finish']],
  ['cancelled', ['abort']],
  ['unseen', ['finish']],
] as const)('a turn that is %s ends with %j', (status, end) => {
  const before = view([text('1', 'So f')]);
  const chunks = chunksBetween(before, { ...before, status, errorText: 'no' });
  expect(chunks.map(({ type }) => type)).toEqual(end);
});

test('a tool that failed says why', async () => {
  const failed = view([call({ kind: 'failed', errorText: 'declined' })], { status: 'completed' });
  const message = await messageFrom(chunksOf([view([call({ kind: 'running' })]), failed]));
  expect(message?.parts).toMatchObject([{ state: 'output-error', errorText: 'declined' }]);
});
