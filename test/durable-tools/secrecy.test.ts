/** Nothing that is said to a tool, or by one that fails, stands where operators look: histories, visibility, logs. */
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
const used = useService({ logger, tools: { assistant: await bundleTools() } });

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

  const row = await used.service.storage.elicitations.get(elicitationId);
  const ids = [row?.workflowId ?? '', turnWorkflowId({ tenant: 'demo', conversation })];
  const places = new Map<string, string>([['log', lines.join('\n')]]);
  for (const id of ids) {
    const handle = used.temporal.client.workflow.getHandle(id);
    const history = readable(await handle.fetchHistory());
    expect(history).toContain('secretive');
    places.set(`history of ${id}`, history);
    const { raw, memo, searchAttributes } = await handle.describe();
    places.set(`description of ${id}`, readable([raw, memo, searchAttributes]));
  }
  expect(places.get('log')).toContain(elicitationId);
  for (const [place, text] of places) expect(text.match(/.{0,80}canary.{0,40}/g) ?? [], place).toEqual([]);
});
