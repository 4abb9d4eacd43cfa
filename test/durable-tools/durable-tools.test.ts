/** Tools in TypeScript, as their callers see them: whole turns on a real server, in real time. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { turnWorkflowId } from '../../src/workflows/messages.ts';
import { Browser } from '../api/pages/browser.ts';
import { respond } from '../service/asking.ts';
import { useService } from '../service/use-service.ts';
import { sendRubbish } from '../workflows/rubbish.ts';
import { bundleTools } from './bundle-tools.ts';

const notesFile = path.join(mkdtempSync(path.join(tmpdir(), 'interlude-notes-')), 'notes');
process.env['INTERLUDE_TEST_NOTES'] = notesFile;
afterAll(() => rmSync(path.dirname(notesFile), { recursive: true }));
const notes = () => readFileSync(notesFile, 'utf8').split('\n').slice(0, -1);

const bundle = await bundleTools();
let isOutboxHeld = false;
const used = useService({
  tools: { assistant: bundle, researcher: bundle },
  isOutboxHeld: () => isOutboxHeld,
});

let conversation: string;
beforeEach(() => {
  conversation = randomUUID();
  writeFileSync(notesFile, '');
  isOutboxHeld = false;
});

const say = (text: string, options = {}) => used.alice.chat(text, { conversation, ...options });
const call = (tool: string, input: object) => say(`call ${tool} ${JSON.stringify(input)}`);
const answer = (elicitationId: string, action: string, content?: Record<string, unknown>) =>
  used.alice.answer({ conversationId: conversation, elicitationId, action, ...(content && { content }) });

/** Of a question of a tool. */
async function workflowsOf(elicitationId: string) {
  const row = await used.service.storage.elicitations.get(elicitationId);
  if (!row) throw new Error('There is no such question.');
  const id = turnWorkflowId(row);
  const { workflow } = used.temporal.client;
  return {
    turn: workflow.getHandle(id),
    tool: workflow.getHandle(`${id}/tool/${row.request.context.toolCallId}`),
  };
}

describe('a tool that asks nothing', () => {
  test('gives the model its result', async () => {
    const stream = await call('greet', { name: 'Ada' });
    await stream.finished();
    expect(stream.text()).toBe('Hello, Ada.');
  });

  test.each([
    ['throws', 'Mistakes failed: it broke'],
    ['reports a function', 'done'],
    ['throws no words', 'Mistakes failed: what it threw cannot be put in words'],
    ['activity without words', 'Mistakes failed: what it threw cannot be put in words'],
    ['cyclic', 'Mistakes failed: its result is no JSON'],
    ['large', 'Mistakes failed: its result is too large'],
    ['nested', 'Mistakes failed: elicit() cannot show this form'],
    ['activity', 'Mistakes failed: the disk is full'],
    ['unknown', 'nobody knows (the bank is silent)'],
    ['page', 'Mistakes failed: nobody was sent to its page'],
    ['plain http', 'Mistakes failed: The url of elicit() must begin with https://'],
    ['secret', 'Mistakes failed: elicit() cannot show this form: The form asks for a secret: "password"'],
    ['floating', 'done'],
    ['nothing', 'Done.'],
  ])('that %s is told to the model in words', async (kind, words) => {
    const stream = await call('mistakes', { kind });
    await stream.finished();
    expect(stream.text()).toContain(words);
  });

  test('is told what it was called with that it does not take', async () => {
    const stream = await call('greet', { name: 3 });
    await stream.finished();
    expect(stream.text()).toMatch(/greet did not run, because what it was called with .*: name: /);
  });
});

test('a call finds nothing that another has left behind, not even in what is built in', async () => {
  const calls = [];
  for (const word of ['first', 'second']) {
    const own = randomUUID();
    const stream = await say(`call litter ${JSON.stringify({ word })}`, { conversation: own });
    calls.push({ own, stream, question: await stream.question('pending') });
  }
  for (const { own, stream, question } of calls) {
    await respond(used.alice, own, question, { action: 'accept', content: {} });
    await stream.finished();
    expect(stream.text()).toBe('nothing nothing nothing');
  }
});

test('tools of two delegates ask at once: one is answered over HTTP, the other on its page', async () => {
  const tasks = ['call status {}', 'call status {"even":false}'];
  const calls = tasks.map((task) => `call agent__researcher ${JSON.stringify({ task })}`);
  const stream = await say(calls.join('\n'), { agentId: 'lead' });
  const [first, second] = await stream.questions('pending', 2);
  for (const question of [first, second]) expect(question?.context['path']).toHaveLength(1);
  const browser = new Browser();
  const page = `${used.service.baseUrl}/auth/answer?e=${second?.elicitationId}`;
  const shown = await browser.press(await browser.open(page), { user: 'alice' });
  await browser.press(shown, { action: 'accept' }, { 'f.count': '8' });
  await answer(first?.elicitationId ?? '', 'accept', { count: 7 });
  await stream.finished();
  expect(stream.text()).toContain('alice said 7');
  expect(stream.text()).toContain('alice said 8');
});

describe('a tool that asks', () => {
  test('goes on with the answer, has its effect once, and says who asks and how far it is', async () => {
    const stream = await call('delete_page', { page: 'Home' });
    const question = await stream.question('pending');
    expect(question).toMatchObject({
      mode: 'form',
      message: 'Delete "Home"?',
      context: {
        trigger: 'tool_elicitation',
        agent: 'Assistant',
        toolName: 'delete_page',
        toolTitle: 'Delete page',
      },
    });
    expect(question.context).not.toHaveProperty('server');
    expect(await answer(question.elicitationId, 'accept', { confirmed: true })).toMatchObject({
      status: 200,
    });
    await stream.finished();
    expect(stream.text()).toContain('"deleted":true');
    expect(notes()).toEqual(['deleted Home']);
    const log = await used.service.storage.turnLog.read({ tenant: 'demo', conversation }, 0);
    expect(log.flatMap(({ event }) => (event.type === 'tool-progress' ? event.message : []))).toEqual([
      'asking',
      'deleted',
    ]);
    expect(log.flatMap(({ event }) => (event.type === 'elicitation-request' ? event.status : []))).toEqual([
      'pending',
      'accept',
    ]);
  });

  test.each(['decline', 'cancel'])('hears of a %s', async (action) => {
    const stream = await call('status', {});
    const { elicitationId } = await stream.question('pending');
    expect(await answer(elicitationId, action)).toMatchObject({ status: 200 });
    await stream.finished();
    expect(stream.text()).toBe(action);
  });

  test('hears that time was up, after its own ttl', async () => {
    const stream = await call('status', { ttl: 300 });
    await stream.finished();
    expect(stream.text()).toBe('expired');
  });

  test('may use defaults where nobody can be asked', async () => {
    const without = await say('call status {}', { supports: null });
    await without.finished();
    expect(without.text()).toMatch(
      /^unsupported\n.*nobody was asked[^]*\nHow many\?\n- .*whole number.*if left out: 2/,
    );
    const stream = await say('call status {"defaults":true}', { supports: null });
    await stream.finished();
    expect(stream.text()).toBe('alice said 2');
  });

  test('asks again, with the reason, what its own schema refuses', async () => {
    const stream = await call('status', { even: true });
    const first = await stream.question('pending');
    await answer(first.elicitationId, 'accept', { count: 3 });
    const again = await stream.until(
      ({ type, data }) =>
        type === 'data-elicitation-request' &&
        (data as typeof first).status === 'pending' &&
        (data as typeof first).elicitationId !== first.elicitationId,
    );
    const second = again['data'] as typeof first;
    expect(second.message).toBe('How many?\n\nThat cannot be taken as it is: count: an even number, please');
    await answer(second.elicitationId, 'accept', { count: 4 });
    await stream.finished();
    expect(stream.text()).toBe('alice said 4');
  });

  test('whose elicitationId another call has used fails in words, and does not ask', async () => {
    const elicitationId = randomUUID();
    const first = await call('status', { elicitationId });
    expect(await first.question('pending')).toMatchObject({ elicitationId });
    await answer(elicitationId, 'accept', { count: 3 });
    await first.finished();
    const second = await call('status', { elicitationId });
    await second.finished();
    expect(second.text()).toMatch(/failed: the elicitationId that it chose was used before/);
    expect(second.chunks.filter(({ type }) => type === 'data-elicitation-request')).toEqual([]);
  });

  test('leaves the other calls of its step going', async () => {
    const stream = await say('call status {}\ncall greet {"name":"Ada"}');
    const { elicitationId } = await stream.question('pending');
    await stream.until(({ type }) => type === 'tool-output-available');
    expect(await used.service.storage.elicitations.get(elicitationId)).toMatchObject({ status: 'pending' });
    await answer(elicitationId, 'accept', { count: 3 });
    await stream.finished();
    for (const words of ['alice said 3', 'Hello, Ada.']) expect(stream.text()).toContain(words);
  });

  test('works on while its question is open', async () => {
    const stream = await call('meanwhile', { line: 'prepared' });
    const { elicitationId } = await stream.question('pending');
    await vi.waitFor(() => expect(notes()).toEqual(['prepared', 'prepared again']));
    expect(await used.service.storage.elicitations.get(elicitationId)).toMatchObject({ status: 'pending' });
    await answer(elicitationId, 'accept', { go: true });
    await stream.finished();
    expect(stream.text()).toBe('prepared, and accept');
  });

  test('makes room for a new message while it waits', async () => {
    const stream = await call('wizard', { steps: 2 });
    const { elicitationId } = await stream.question('pending');
    const next = await say('hello');
    await next.finished();
    expect(next.text()).toBe('You said: hello');
    const chunks = await stream.finished();
    expect(JSON.stringify(chunks)).toContain('sent a new message instead of answering');
    expect(await used.service.storage.elicitations.get(elicitationId)).toMatchObject({ status: 'cancel' });
  });

  test('is stopped with its turn', async () => {
    const stream = await call('wizard', { steps: 2 });
    const { elicitationId } = await stream.question('pending');
    await used.alice.cancel(conversation);
    const chunks = await stream.finished();
    expect(chunks.at(-1)).toMatchObject({ type: 'abort' });
    expect(await used.service.storage.elicitations.get(elicitationId)).toMatchObject({ status: 'cancel' });
  });

  test('is stopped with its turn in the middle of a short effect', async () => {
    const stream = await call('slow_effect', { line: 'Home', ms: 4_500 });
    await vi.waitFor(() => expect(notes()).toEqual(['began Home']));
    await used.alice.cancel(conversation);
    const chunks = await stream.finished();
    expect(chunks.at(-1)).toMatchObject({ type: 'abort' });
    expect(JSON.stringify(chunks)).toContain('it is unknown whether the action took place');
    const [entry] = await used.service.storage.turnLog.read({ tenant: 'demo', conversation }, 0, 1);
    const id = turnWorkflowId({ tenant: 'demo', conversation, turnId: entry?.turnId ?? '' });
    await expect
      .poll(async () => {
        const { count } = await used.temporal.client.workflow.count(
          `WorkflowId STARTS_WITH '${id}' AND ExecutionStatus = 'Running'`,
        );
        return count;
      })
      .toBe(0);
  });

  test('that an operator terminates is an error in words, and the agent goes on', async () => {
    const stream = await call('wizard', { steps: 2 });
    const { elicitationId } = await stream.question('pending');
    const { tool } = await workflowsOf(elicitationId);
    await tool.terminate('by hand');
    await stream.finished();
    expect(stream.text()).toContain('wizard was stopped in the middle');
    await expect
      .poll(async () => (await used.service.storage.elicitations.get(elicitationId))?.status, {
        timeout: 20_000,
      })
      .toBe('cancel');
  });

  test('that an operator terminates between an answer and its signal leaves the answer unused', async () => {
    const stream = await call('wizard', { steps: 2 });
    const { elicitationId } = await stream.question('pending');
    const { tool } = await workflowsOf(elicitationId);
    isOutboxHeld = true;
    expect(await answer(elicitationId, 'accept', { word: 'Zanzibar' })).toMatchObject({ status: 200 });
    await tool.terminate('by hand');
    await stream.finished();
    expect(await used.service.storage.elicitations.get(elicitationId)).toMatchObject({
      status: 'accept',
      isUnused: true,
    });
  });

  test('goes on as if nothing had come when it is sent rubbish', async () => {
    const stream = await call('wizard', { steps: 1 });
    const { elicitationId } = await stream.question('pending');
    const { tool } = await workflowsOf(elicitationId);
    await sendRubbish(tool, { elicitationId, toolCallId: 'call_1' });
    await answer(elicitationId, 'accept', { word: 'Zanzibar' });
    await stream.finished();
    expect(stream.text()).toBe('Zanzibar');
  });

  test('leaves no word of what was said in any history', async () => {
    const stream = await call('wizard', { steps: 1 });
    const { elicitationId } = await stream.question('pending');
    await answer(elicitationId, 'accept', { word: 'Zanzibar' });
    await stream.finished();
    expect(stream.text()).toBe('Zanzibar');
    for (const handle of Object.values(await workflowsOf(elicitationId))) {
      const history = JSON.stringify(await handle.fetchHistory(), (key, value: unknown) =>
        key === 'data' && typeof value === 'string' ? Buffer.from(value, 'base64').toString('utf8') : value,
      );
      expect(history).toContain('wizard');
      for (const secret of ['Zanzibar', 'Step 1', 'steps']) expect(history).not.toContain(secret);
    }
  });
});
