/** Calls of tools in TypeScript that a person approves before they are begun: what is shown is what they run with. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createClient } from '@interlude-ai/client/client.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { createLogger } from '../../src/platform/telemetry/logger.ts';
import { questionsIn } from '../service/asking.ts';
import type { ChatStream } from '../service/chat-stream.ts';
import { useService } from '../service/use-service.ts';
import { bundleTools } from './bundle-tools.ts';

const notesFile = path.join(mkdtempSync(path.join(tmpdir(), 'interlude-notes-')), 'notes');
process.env['INTERLUDE_TEST_NOTES'] = notesFile;
afterAll(() => rmSync(path.dirname(notesFile), { recursive: true }));
const notes = () => readFileSync(notesFile, 'utf8').split('\n').slice(0, -1);

const logger = createLogger({ level: 'silent', human: false });
const logged = vi.spyOn(logger, 'error');

/** A change of a call's arguments in the database after the approval. */
let tampered: unknown;
let isApproved = false;
let conversation: string;
beforeEach(() => {
  conversation = randomUUID();
  writeFileSync(notesFile, '');
});
afterEach(() => {
  tampered = undefined;
  isApproved = false;
  logged.mockClear();
});

const bundle = await bundleTools();
const used = useService({
  tools: { assistant: bundle, researcher: bundle },
  approval: { default: 'never', tools: { greet: 'destructive', delete_page: 'destructive' } },
  env: { ELICITATION_MAX_OPEN: '3' },
  around,
  logger: Object.assign(logger, { child: () => logger }),
});

function around(storage: Storage): Storage {
  const { toolCalls } = storage;
  return {
    ...storage,
    toolCalls: {
      ...toolCalls,
      async get(...given) {
        const row = await toolCalls.get(...given);
        return row && isApproved && tampered !== undefined ? { ...row, input: tampered } : row;
      },
    },
  };
}

const say = (text: string, options = {}) => used.alice.chat(text, { conversation, ...options });
const callOf = (...calls: [tool: string, input: object][]) =>
  calls.map(([tool, input]) => `call ${tool} ${JSON.stringify(input)}`).join('\n');
const greet = (name: string) => callOf(['greet', { name }]);
const answer = (elicitationId: string, response: { action: string; remember?: string; reason?: string }) =>
  used.alice.answer({ conversationId: conversation, elicitationId, ...response });
const errorIn = ({ chunks }: ChatStream) =>
  chunks.flatMap(({ type, errorText }) => (type === 'tool-output-error' ? [errorText] : []))[0];
const client = async () =>
  createClient({ baseUrl: used.service.baseUrl, token: await used.service.token('alice') });
const approvals = async () => (await client()).approvals();

test('is asked with its arguments, and runs with exactly them', async () => {
  const stream = await say(greet('Ada'));
  const question = await stream.question('pending');
  expect(question).toMatchObject({
    mode: 'form',
    message: 'Assistant wants to greet. Approve this?',
    requestedSchema: { type: 'object', properties: {} },
    context: {
      trigger: 'approval',
      agent: 'Assistant',
      toolName: 'greet',
      arguments: '{\n  "name": "Ada"\n}',
    },
  });
  expect(question.context).not.toHaveProperty('server');
  expect(await answer(question.elicitationId, { action: 'accept' })).toMatchObject({ status: 200 });
  await stream.finished();
  expect(stream.text()).toBe('Hello, Ada.');
  expect(await approvals()).toEqual([]);
});

test('may ask its own question once it was approved', async () => {
  const stream = await say(callOf(['delete_page', { page: 'Home' }]));
  const { elicitationId } = await stream.question('pending');
  await answer(elicitationId, { action: 'accept' });
  const own = await stream.until(() => questionsIn(stream).length === 2).then(() => questionsIn(stream)[1]);
  expect(own?.context).toMatchObject({ trigger: 'tool_elicitation', toolName: 'delete_page' });
  expect(notes()).toEqual([]);
  const accepted = { action: 'accept', content: { confirmed: true } };
  await answer(own?.elicitationId ?? '', accepted);
  await stream.finished();
  expect(notes()).toEqual(['deleted Home']);
});

test.each([
  [{ action: 'decline', reason: 'Still needed.' }, 'Their reason: "Still needed." The tool did not run.'],
  [{ action: 'cancel' }, 'dismissed the question without deciding. The tool did not run.'],
])('%j reaches the model in words, and nothing runs', async (response, words) => {
  const stream = await say(greet('Ada'));
  const { elicitationId } = await stream.question('pending');
  await answer(elicitationId, response);
  await stream.finished();
  expect(errorIn(stream)).toContain(words);
});

test('who cannot be asked has not said yes', async () => {
  const program = await used.service.asService();
  for (const [words, stream] of [
    ['client they use cannot show the request', await say(greet('Ada'), { supports: 'url' })],
    ['the caller is a service', await program.chat(greet('Ada'))],
  ] as const) {
    await stream.finished();
    expect(errorIn(stream)).toContain(words);
    expect(questionsIn(stream)).toEqual([]);
  }
});

test('arguments that are changed on the way are refused and logged', async () => {
  const stream = await say(greet('Ada'));
  const { elicitationId } = await stream.question('pending');
  tampered = { name: 'Mallory' };
  isApproved = true;
  await answer(elicitationId, { action: 'accept' });
  await stream.finished();
  expect(errorIn(stream)).toContain('what was about to run is not what they approved');
  expect(stream.text()).not.toContain('Hello');
  expect(logged).toHaveBeenCalledWith(
    expect.objectContaining({ mismatch: 'shown arguments', toolName: 'greet' }),
    'a call is not what its user approved, and was not sent',
  );
});

test('several at once are answered one by one, and one too many is refused', async () => {
  const people = ['Ada', 'Bo', 'Cy', 'Di'];
  const stream = await say(callOf(...people.map((name): [string, object] => ['greet', { name }])));
  await stream.until(() => questionsIn(stream).length === 3 && errorIn(stream) !== undefined);
  expect(errorIn(stream)).toContain('already has too many open questions');
  const asked = questionsIn(stream);
  const [yes, no, dismissed] = asked;
  const responses = [
    [no, { action: 'decline' }],
    [dismissed, { action: 'cancel' }],
    [yes, { action: 'accept' }],
  ] as const;
  for (const [question, response] of responses) await answer(question?.elicitationId ?? '', response);
  const chunks = await stream.finished();
  const outputs = chunks.filter(({ type }) => type === 'tool-output-available');
  const [, name] = /"name": "(\w+)"/.exec(String(yes?.context['arguments'])) ?? [];
  expect(outputs.map(({ output }) => JSON.stringify(output))).toEqual([
    expect.stringContaining(`Hello, ${name}.`),
  ]);
});

test('makes room for a new message, and never runs', async () => {
  const stream = await say(greet('Ada'));
  const { elicitationId } = await stream.question('pending');
  const next = await say('hello');
  await next.finished();
  await stream.finished();
  expect(stream.text()).not.toContain('Hello, Ada.');
  expect(await used.service.storage.elicitations.get(elicitationId)).toMatchObject({ status: 'cancel' });
});

test('an agent that works for another one asks the same person', async () => {
  const stream = await say('ask the researcher to call greet {"name":"Ada"}', { agentId: 'lead' });
  const { elicitationId, context } = await stream.question('pending');
  expect(context).toMatchObject({ trigger: 'approval', agent: 'Researcher', path: ['researcher'] });
  await answer(elicitationId, { action: 'accept' });
  await stream.finished();
  expect(JSON.stringify(stream.chunks)).toContain('Hello, Ada.');
});

test('what is approved in advance is listed, counts for this agent, and can be withdrawn', async () => {
  const first = await say(greet('Ada'));
  const { elicitationId: id } = await first.question('pending');
  await answer(id, { action: 'accept', remember: 'always' });
  await first.finished();
  const approval = { id, server: null, serverTitle: 'Assistant', host: null, tool: 'greet' };
  expect(await approvals()).toEqual([expect.objectContaining({ ...approval, conversationId: null })]);

  conversation = randomUUID();
  const again = await say(greet('Bo'), { supports: null });
  await again.finished();
  expect(again.text()).toBe('Hello, Bo.');
  conversation = randomUUID();
  const other = await say('ask the researcher to call greet {"name":"Ada"}', { agentId: 'lead' });
  await answer((await other.question('pending')).elicitationId, { action: 'decline' });
  await other.finished();

  expect(await (await client()).withdrawApproval(id)).toMatchObject(approval);
  await expect((await client()).withdrawApproval(id)).rejects.toMatchObject({ code: 'approval_not_found' });
  conversation = randomUUID();
  const asked = await say(greet('Ada'));
  await answer((await asked.question('pending')).elicitationId, { action: 'decline' });
  await asked.finished();
});
