/** The Desk of the demo, its tools bundled as workers bundle them, its payment page opened and paid. */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startDesk } from '../../demo/desk/desk.ts';
import type { Desk } from '../../demo/desk/desk.ts';
import { openToolBundle } from '../../src/platform/tool-bundles/open-tool-bundle.ts';
import { freePort } from '../free-port.ts';
import { startService } from '../service/service.ts';
import type { Service } from '../service/service.ts';
import type { Caller } from '../service/user.ts';
import { useDevelopmentServer } from '../service/use-development-server.ts';

const root = path.resolve(import.meta.dirname, '../..');
const secret = 'a secret of the desk';
const temporal = useDevelopmentServer();
const stack = new AsyncDisposableStack();
let service: Service;
let desk: Desk;
let alice: Caller;

beforeAll(async () => {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'desk-'));
  stack.defer(() => rm(dataDir, { recursive: true }));
  const [bundle, port] = await Promise.all([openToolBundle(path.join(root, 'demo/desk/tools')), freePort()]);
  process.env['DEMO_DESK_PORT'] = String(port);
  service = await startService({
    temporal,
    env: { INTERLUDE_CONFIG: path.join(root, 'demo/agents.yaml'), DEMO_DESK_SECRET: secret },
    tools: { desk: bundle },
  });
  stack.defer(() => service.stop());
  desk = await startDesk({
    port,
    dataDir,
    interlude: { url: service.baseUrl, completionSecret: secret },
  });
  stack.defer(() => desk.stop());
  alice = await service.as('alice');
});
afterAll(() => stack.disposeAsync());

interface Question {
  elicitationId: string;
  message: string;
  status: string;
  url?: string;
}

function talk() {
  const conversation = randomUUID();
  return {
    say: (text: string, options = {}) => alice.chat(text, { conversation, agentId: 'desk', ...options }),
    answer: ({ elicitationId }: Question, action: string, content?: Record<string, unknown>) =>
      alice.answer({ conversationId: conversation, elicitationId, action, ...(content && { content }) }),
  };
}

async function question(stream: Awaited<ReturnType<Caller['chat']>>, words: string): Promise<Question> {
  const chunk = await stream.until(({ type, data }) => {
    const asked = data as Question;
    return type === 'data-elicitation-request' && asked.status === 'pending' && asked.message.includes(words);
  });
  return chunk['data'] as Question;
}

test('confirm: a page is deleted after a yes, and only then', async () => {
  const { say, answer } = talk();
  const first = await say('Delete the page “Old roadmap”.');
  await answer(await question(first, 'Bob Brown changed it last'), 'decline');
  await first.finished();
  expect(first.text()).toBe('The page "Old roadmap" was kept: the user said no.');
  const second = await say('Delete the page “Old roadmap”.');
  await answer(await question(second, 'Delete the page'), 'accept', { confirmed: true });
  await second.finished();
  expect(second.text()).toBe('The page "Old roadmap" is deleted.');
  expect(desk.books.pages.map(({ title }) => title)).not.toContain('Old roadmap');
});

test('wizard: three questions, each of which knows what was said before', async () => {
  const { say, answer } = talk();
  const stream = await say('Welcome a new member.');
  const ada = { name: 'Ada Lovelace', email: 'ada@example.com' };
  await answer(await question(stream, '(1 of 3)'), 'accept', ada);
  await answer(await question(stream, 'Which team does Ada Lovelace join?'), 'accept', { team: 'Platform' });
  await answer(await question(stream, 'to Platform, which has 1 so far?'), 'accept', { add: true });
  await stream.finished();
  expect(stream.text()).toContain('Ada Lovelace is a member of Platform now.');
  expect(desk.books.members).toContainEqual({ ...ada, team: 'Platform' });
});

test('preferences: what holds so far stands where nobody can be asked', async () => {
  const { say, answer } = talk();
  const stream = await say('Change my digest.');
  const wanted = { every: 'day', topics: ['issues', 'people'], hour: 7 };
  await answer(await question(stream, 'how would you like it?'), 'accept', wanted);
  await stream.finished();
  expect(desk.books.digest).toEqual(wanted);
  const unasked = await say('Change my digest.', { supports: null });
  await unasked.finished();
  expect(unasked.text()).toBe('The digest comes every day at 7:00, with issues, people.');
});

test('a page of one’s own: the button of the page is what the tool waits for', async () => {
  const { say, answer } = talk();
  const stream = await say('Pay an invoice.');
  const asked = await question(stream, 'Pay invoice I-17 of Green Office Plants: 48 €');
  const address = asked.url ?? '';
  expect(await (await fetch(address)).text()).toContain('Pay 48 €');
  expect(await answer(asked, 'accept')).toMatchObject({ status: 202 });
  expect(desk.books.invoices[0]?.paidAt).toBeNull();
  expect((await service.storage.elicitations.get(asked.elicitationId))?.status).toBe('pending');

  const paid = await fetch(address, { method: 'POST' });
  expect(await paid.text()).toContain('goes on by itself');
  await stream.finished();
  expect(stream.text()).toBe('Invoice I-17 of Green Office Plants is paid: 48 €.');
  // A reader who reconnects gets the same.
  expect(await (await fetch(address)).text()).toContain('goes on by itself');
});
