/** Tools in TypeScript that ask nothing, in whole turns: one activity each, and nothing that was said in what Temporal keeps. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { afterAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { turnWorkflowId } from '../../src/workflows/messages.ts';
import { questionsIn } from '../service/asking.ts';
import type { ChatStream } from '../service/chat-stream.ts';
import { useService } from '../service/use-service.ts';
import { bundleTools } from './bundle-tools.ts';

const notesFile = path.join(mkdtempSync(path.join(tmpdir(), 'interlude-notes-')), 'notes');
process.env['INTERLUDE_TEST_NOTES'] = notesFile;
afterAll(() => rmSync(path.dirname(notesFile), { recursive: true }));
const notes = () => readFileSync(notesFile, 'utf8').split('\n').slice(0, -1);

const lines: string[] = [];
const logger = pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) });
const used = useService({
  logger,
  tools: { assistant: await bundleTools() },
  approval: { default: 'never', tools: { linger_once: 'always' } },
});

let conversation: string;
beforeEach(() => {
  conversation = randomUUID();
  writeFileSync(notesFile, '');
  lines.length = 0;
});

const say = (text: string, options = {}) => used.alice.chat(text, { conversation, ...options });
const call = (tool: string, input: object) => say(`call ${tool} ${JSON.stringify(input)}`);
const answer = (elicitationId: string, response: object) =>
  used.alice.answer({ conversationId: conversation, elicitationId, action: 'accept', ...response });
const errorIn = ({ chunks }: ChatStream) =>
  chunks.flatMap(({ type, errorText }) => (type === 'tool-output-error' ? [errorText] : []))[0];

async function logOf() {
  return used.service.storage.turnLog.read({ tenant: 'demo', conversation }, 0);
}

async function historyOf() {
  const [entry] = await logOf();
  const id = turnWorkflowId({ tenant: 'demo', conversation, turnId: entry?.turnId ?? '' });
  const handle = used.temporal.client.workflow.getHandle(id);
  await handle.result().catch(() => undefined);
  return (await handle.fetchHistory()).events ?? [];
}

const readable = (value: unknown) =>
  JSON.stringify(value, (key, member: unknown) => {
    if (member instanceof Uint8Array) return Buffer.from(member).toString();
    return key === 'data' && typeof member === 'string' ? Buffer.from(member, 'base64').toString() : member;
  });

test('runs once, as one activity and no workflow of its own, and reports its progress and its log', async () => {
  const stream = await call('jot', { line: 'Home' });
  await stream.finished();
  expect(stream.text()).toBe('{"lines":1}');
  expect(notes()).toEqual(['Home']);
  const progress = (await logOf()).flatMap(({ event }) =>
    event.type === 'tool-progress' ? [[event.progress, event.message]] : [],
  );
  expect(progress).toEqual([
    [1, 'writing'],
    [2, undefined],
  ]);
  const logged = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(logged.find(({ msg }) => msg === 'wrote')).toMatchObject({
    toolName: 'jot',
    details: { user: 'alice', tenant: 'demo' },
  });
  const history = await historyOf();
  const types = history.flatMap(
    ({ activityTaskScheduledEventAttributes: scheduled }) => scheduled?.activityType?.name ?? [],
  );
  expect(types).toEqual(['callModel', 'executeTool', 'callModel']);
  expect(history.some((event) => event.startChildWorkflowExecutionInitiatedEventAttributes)).toBe(false);
});

test.each([
  ['throws', 'Plain mistakes failed: it broke'],
  ['throws no words', 'Plain mistakes failed: what it threw cannot be put in words'],
  ['cyclic', 'Plain mistakes failed: its result is no JSON'],
  ['large', 'Plain mistakes failed: its result is too large'],
  ['slow', 'it did not end within 1 seconds. So it is unknown whether the action took place'],
  ['nothing', 'Done.'],
])('one that is %s is a result in words', async (kind, words) => {
  const stream = await call('plain_mistakes', { kind });
  await stream.finished();
  expect(errorIn(stream) ?? stream.text()).toContain(words);
});

test('one that reports nonsense has reported what makes sense', async () => {
  const stream = await call('plain_mistakes', { kind: 'reports nonsense' });
  await stream.finished();
  expect(errorIn(stream) ?? stream.text()).toBe('done');
  const progress = (await logOf()).flatMap(({ event }) => (event.type === 'tool-progress' ? [event] : []));
  expect(progress).toMatchObject([{ progress: 1 }]);
  expect(progress[0]).not.toHaveProperty('total');
});

test('does not run with arguments that it does not take', async () => {
  const stream = await call('jot', { line: 3 });
  await stream.finished();
  expect(stream.text()).toMatch(/Jot did not run, because what it was called with .*: line: /);
  expect(notes()).toEqual([]);
});

describe('one that has to be approved', () => {
  const begin = (line: string) => call('linger_once', { line, ms: 0 });

  test('runs with what was shown, after a yes', async () => {
    const stream = await begin('Home');
    const { elicitationId, context } = await stream.question('pending');
    expect(context).toMatchObject({ trigger: 'approval', toolName: 'linger_once' });
    expect(context['arguments']).toContain('Home');
    expect(notes()).toEqual([]);
    expect(await answer(elicitationId, {})).toMatchObject({ status: 200 });
    await stream.finished();
    expect(stream.text()).toBe('Home');
    expect(notes()).toEqual(['began Home', 'ended Home']);
  });

  test('does not run after a no, and the model reads the reason', async () => {
    const stream = await begin('Home');
    await answer((await stream.question('pending')).elicitationId, {
      action: 'decline',
      reason: 'Still needed.',
    });
    await stream.finished();
    expect(errorIn(stream)).toContain('Their reason: "Still needed." The tool did not run.');
    expect(notes()).toEqual([]);
  });

  test('makes room for a new message, and never runs', async () => {
    const stream = await begin('Home');
    const { elicitationId } = await stream.question('pending');
    const next = await say('hello');
    await next.finished();
    await stream.finished();
    expect(await used.service.storage.elicitations.get(elicitationId)).toMatchObject({ status: 'cancel' });
    expect(notes()).toEqual([]);
  });

  test('is not asked for where nobody can be asked', async () => {
    const stream = await say('call linger_once {"line":"Home","ms":0}', { supports: 'url' });
    await stream.finished();
    expect(errorIn(stream)).toContain('client they use cannot show the request');
    expect(questionsIn(stream)).toEqual([]);
  });
});

test('makes no room for a new message while it runs', async () => {
  const stream = await call('linger_again', { line: 'Home', ms: 1_500 });
  await vi.waitFor(() => expect(notes()).toEqual(['began Home']));
  await expect(say('hello')).rejects.toThrow('409');
  await stream.finished();
  expect(stream.text()).toBe('Home');
});

test('is told to stop when its turn is cancelled', async () => {
  const stream = await call('linger_again', { line: 'Home', ms: 60_000 });
  await vi.waitFor(() => expect(notes()).toEqual(['began Home']));
  await used.alice.cancel(conversation);
  expect((await stream.finished()).at(-1)).toMatchObject({ type: 'abort' });
  await vi.waitFor(() => expect(notes()).toHaveLength(2));
  expect(notes()[1]).toContain('stopped Home');
  const [last] = (await historyOf()).slice(-1);
  expect(
    last?.workflowExecutionCompletedEventAttributes ?? last?.workflowExecutionCanceledEventAttributes,
  ).toBeTruthy();
});

test('leaves no word of what it was given, returned or threw in history and log', async () => {
  const stream = await call('linger_once', { line: 'canary-line', ms: 0 });
  await answer((await stream.question('pending')).elicitationId, {});
  await stream.finished();
  expect(stream.text()).toBe('canary-line');
  const misfit = await call('jot', { line: ['canary-misfit'] });
  await misfit.finished();
  const history = readable(await historyOf());
  expect(history).toContain('executeTool');
  expect(history).not.toContain('canary');
  expect(lines.join('\n')).not.toContain('canary');
});
