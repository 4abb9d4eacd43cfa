/** What was filled in of a form is there again after a crash of the terminal, and goes when its question is over. */
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startChatSession, waitingTurn } from './chat-session.ts';

let drafts: string;
beforeEach(async () => {
  drafts = path.join(await mkdtemp(path.join(tmpdir(), 'drafts-')), 'interlude', 'drafts');
});
afterEach(() => rm(path.dirname(path.dirname(drafts)), { recursive: true }));

const form = (status: string) => ({
  type: 'data-elicitation-request',
  id: 'f1',
  data: {
    type: 'elicitation-request',
    elicitationId: 'f1',
    mode: 'form',
    message: 'Where to sleep?',
    requestedSchema: {
      type: 'object',
      properties: {
        name: { type: 'string', title: 'Name' },
        pin: { type: 'string', title: 'PIN', writeOnly: true },
        nights: { type: 'integer', title: 'Nights' },
      },
      required: ['name', 'pin', 'nights'],
    },
    context: {
      trigger: 'mcp_elicitation',
      agent: 'Assistant',
      server: 'travel',
      serverTitle: 'Travel Desk',
      host: 'travel.example',
      toolName: 'book_trip',
    },
    status,
    expiresAt: new Date(Date.now() + 600_000).toISOString(),
  },
});

function asking(answered: (body: unknown) => void = () => undefined) {
  const turn = waitingTurn([{ type: 'start' }, form('pending')], (response, _nth, _path, body) => {
    response.end(JSON.stringify({ elicitationId: 'f1', status: 'accept', duplicate: false }));
    answered(body);
    turn.goOn([form('accept')]);
    turn.end();
  });
  return turn.reply;
}

test('the terminal goes on where its form was when it was killed, and keeps no secret', async () => {
  const before = await startChatSession(asking(), { drafts });
  before.keyboard.line('List my issues');
  await before.sees('1/3 Name');
  for (const line of ['Alice', '1234', '3']) before.keyboard.line(line);
  expect(before.bottomLine()).toContain('Send?');

  const [file = ''] = await readdir(drafts);
  expect(await readFile(path.join(drafts, file), 'utf8')).toBe('[["name","Alice"],["nights",3]]');
  expect((await stat(path.join(drafts, file))).mode & 0o777).toBe(0o600);
  expect((await stat(drafts)).mode & 0o777).toBe(0o700);

  let sent: unknown;
  const after = await startChatSession(
    asking((body) => void (sent = body)),
    { drafts },
  );
  after.keyboard.line('List my issues');
  await after.sees('What you had filled in is there again');
  await after.sees('2/3 PIN');
  for (const line of ['1234', '', '']) after.keyboard.line(line);
  await after.sees('Answered.');
  expect(sent).toMatchObject({ content: { name: 'Alice', pin: '1234', nights: 3 } });
  await expect.poll(() => readdir(drafts)).toEqual([]);
});

test('nothing is left of a form that is turned down', async () => {
  const sitting = await startChatSession(asking(), { drafts });
  sitting.keyboard.line('List my issues');
  await sitting.sees('1/3 Name');
  sitting.keyboard.line('Alice');
  expect(await readdir(drafts)).toHaveLength(1);
  sitting.keyboard.line('/n');
  await expect.poll(() => readdir(drafts)).toEqual([]);
});

test('where nothing can be kept, a form is filled in all the same', async () => {
  const sitting = await startChatSession(asking(), { drafts: '/dev/null/drafts' });
  sitting.keyboard.line('List my issues');
  await sitting.sees('1/3 Name');
  sitting.keyboard.line('Alice');
  await sitting.sees('2/3 PIN');
});
