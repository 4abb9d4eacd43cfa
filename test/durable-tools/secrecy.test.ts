/**
 * Nothing that is said to a tool, or by one that fails, in an approval or in a question of the model's own stands where
 * operators look: histories, visibility, logs; nor in the addresses and the refusals that clients are given.
 */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pino } from 'pino';
import { afterAll, expect, test } from 'vitest';
import { turnWorkflowId } from '../../src/workflows/messages.ts';
import { useService } from '../service/use-service.ts';
import { bundleTools } from './bundle-tools.ts';

const notesFile = path.join(mkdtempSync(path.join(tmpdir(), 'interlude-notes-')), 'notes');
process.env['INTERLUDE_TEST_NOTES'] = notesFile;
writeFileSync(notesFile, '');
afterAll(() => rmSync(path.dirname(notesFile), { recursive: true }));

const lines: string[] = [];
const logger = pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) });
const used = useService({
  logger,
  tools: { assistant: await bundleTools() },
  approval: { default: 'never', tools: { greet: 'always' } },
});

/** Bytes as text, too, so that a payload hides nothing. */
const readable = (value: unknown) =>
  JSON.stringify(value, (key, member: unknown) => {
    if (member instanceof Uint8Array) return Buffer.from(member).toString();
    if (typeof member === 'bigint') return String(member);
    return key === 'data' && typeof member === 'string' ? Buffer.from(member, 'base64').toString() : member;
  });

test('an answer, an argument and a message leave no word, though the tool fails with them', async () => {
  const conversation = randomUUID();
  const argument = 'canary-argument';
  const stream = await used.alice.chat(`call secretive ${JSON.stringify({ argument })}`, { conversation });
  const { elicitationId } = await stream.question('pending');
  const word = 'canary-answer';
  await used.alice.answer({
    conversationId: conversation,
    elicitationId,
    action: 'accept',
    content: { word },
  });
  await stream.finished();
  expect(stream.text()).toContain('canary-argument does not go with canary-answer');
  expect(readFileSync(notesFile, 'utf8')).toContain('canary-argument canary-answer');

  await expectNoCanary(elicitationId, 'secretive');
});

test('approved and refused arguments, and the reason of a refusal, leave no word', async () => {
  for (const response of [
    { action: 'accept', remember: 'conversation' },
    { action: 'decline', reason: 'canary-reason' },
  ]) {
    const conversation = randomUUID();
    const stream = await used.alice.chat('call greet {"name":"canary-argument"}', { conversation });
    const { elicitationId, context } = await stream.question('pending');
    expect(context['arguments']).toContain('canary-argument');
    await expectRefused(conversation, elicitationId, { action: 'accept', reason: 'canary-reason' });
    await answer(conversation, elicitationId, response);
    await expectRefused(conversation, elicitationId, { action: 'cancel' });
    await stream.finished();
    expect(JSON.stringify(stream.chunks)).toMatch(/Hello, canary-argument|canary-reason/);
    await expectNoCanary(elicitationId, 'greet');
  }
});

test('a question of the model’s own, a wrong answer and the right one leave no word', async () => {
  const conversation = randomUUID();
  const properties = { canary_field: { type: 'string', title: 'canary-title', minLength: 12 } };
  const input = {
    message: 'canary-message',
    schema: { type: 'object', properties, required: ['canary_field'] },
  };
  const words = `call ask_user ${JSON.stringify(input)}`;
  const stream = await used.alice.chat(words, { conversation, agentId: 'interviewer' });
  const { elicitationId, message } = await stream.question('pending');
  expect(message).toBe('canary-message');
  const accept = (canary_field: string) => ({ action: 'accept', content: { canary_field } });
  await expectRefused(conversation, elicitationId, accept('canary-bad'));
  await answer(conversation, elicitationId, accept('canary-right-one'));
  await stream.finished();
  expect(stream.text()).toContain('canary-right-one');
  await expectNoCanary(elicitationId, 'ask_user');
});

function answer(conversationId: string, elicitationId: string, response: object) {
  return used.alice.request('POST', '/run/api/elicitation-responses', {
    conversationId,
    elicitationId,
    ...response,
  });
}

/** The names of fields are the question's own; what was given is not repeated. */
async function expectRefused(conversation: string, elicitationId: string, response: object): Promise<void> {
  const { status, body } = await answer(conversation, elicitationId, response);
  expect(status).toBeGreaterThanOrEqual(400);
  expect(JSON.stringify(body)).not.toMatch(/canary-/);
}

async function expectNoCanary(elicitationId: string, tool: string): Promise<void> {
  const row = await used.service.storage.elicitations.get(elicitationId);
  if (!row) throw new Error('There is no such question.');
  const turn = turnWorkflowId(row);
  const { trigger, toolCallId } = row.request.context;
  const ids = trigger === 'tool_elicitation' ? [turn, `${turn}/tool/${toolCallId}`] : [turn];
  const places = new Map<string, string>([['log', lines.join('\n')]]);
  for (const id of ids) {
    const handle = used.temporal.client.workflow.getHandle(id);
    const history = readable(await handle.fetchHistory());
    expect(history).toContain(tool);
    places.set(`history of ${id}`, history);
    const { raw, memo, searchAttributes } = await handle.describe();
    places.set(`description of ${id}`, readable([raw, memo, searchAttributes]));
  }
  expect(places.get('log')).toContain(elicitationId);
  for (const [place, text] of places) expect(text.match(/.{0,80}canary.{0,40}/g) ?? [], place).toEqual([]);
}
