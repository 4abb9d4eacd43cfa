/** The examples of docs/tools.md, bundled as workers bundle them and called in whole turns. */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { openToolBundle } from '../../../src/platform/tool-bundles/open-tool-bundle.ts';
import { signCompletion } from '../src/elicit.ts';
import { useService } from '../../../test/service/use-service.ts';

const root = path.resolve(import.meta.dirname, '../../..');
const secret = 'a secret of the payment page';
const notebook = path.join(mkdtempSync(path.join(tmpdir(), 'interlude-desk-')), 'notebook');
process.env['DESK_NOTEBOOK'] = notebook;
afterAll(() => rmSync(path.dirname(notebook), { recursive: true }));
const notes = () => readFileSync(notebook, 'utf8').split('\n').slice(0, -1);

const bundle = await openToolBundle(path.join(root, 'examples/tools/tools'));
const used = useService({
  tools: { assistant: bundle },
  env: { INTERLUDE_CONFIG: path.join(root, 'test/fixtures/desk-agents.yaml'), PAGES_SECRET: secret },
});

let conversation: string;
beforeEach(() => {
  conversation = randomUUID();
  writeFileSync(notebook, '');
});

const call = (tool: string, input = {}, options = {}) =>
  used.alice.chat(`call ${tool} ${JSON.stringify(input)}`, { conversation, ...options });
const answer = (elicitationId: string, action: string, content?: Record<string, unknown>) =>
  used.alice.answer({ conversationId: conversation, elicitationId, action, ...(content && { content }) });
type Stream = Awaited<ReturnType<typeof call>>;
interface Question {
  elicitationId: string;
  message: string;
  status: string;
}

async function nextQuestion(stream: Stream, message: string): Promise<string> {
  const chunk = await stream.until(({ type, data }) => {
    const question = data as Question;
    return (
      type === 'data-elicitation-request' && question.status === 'pending' && question.message === message
    );
  });
  return (chunk['data'] as Question).elicitationId;
}

function complete(elicitationId: string, signature: string) {
  return fetch(`${used.service.baseUrl}/run/v1/elicitations/${elicitationId}/complete`, {
    method: 'POST',
    headers: { 'interlude-signature': signature },
  });
}

/** On the log, in order. */
async function eventsAbout(elicitationId: string): Promise<[string, unknown][]> {
  const row = await used.service.storage.elicitations.get(elicitationId);
  const entries = await used.service.storage.turnLog.read({ tenant: row!.tenant, conversation }, 0);
  const events = entries.map(
    ({ event }) => event as { type: string; elicitationId?: string; status?: string },
  );
  return events
    .filter((event) => event.elicitationId === elicitationId)
    .map(({ type, status }) => [type, status]);
}

test('plain: is called, and asks nothing', async () => {
  const stream = await call('list_teams');
  await stream.finished();
  expect(JSON.parse(stream.text())).toEqual({ teams: ['Design', 'Platform'] });
});

test('confirm: deletes after a yes, and only then', async () => {
  const first = await call('delete_page', { page: 'Home' });
  await answer(await nextQuestion(first, 'Delete the page "Home"?'), 'accept', { confirmed: false });
  await first.finished();
  expect([first.text(), notes()]).toEqual(['Nothing was deleted.', []]);
  const second = await call('delete_page', { page: 'Home' });
  await answer(await nextQuestion(second, 'Delete the page "Home"?'), 'accept', { confirmed: true });
  await second.finished();
  expect(notes()).toEqual(['deleted Home']);
});

test('wizard: each step knows the ones before', async () => {
  const stream = await call('welcome_member');
  const ada = { name: 'Ada', email: 'ada@example.com' };
  await answer(await nextQuestion(stream, 'Who is new?'), 'accept', ada);
  await answer(await nextQuestion(stream, 'Which team does Ada join?'), 'accept', { team: 'Platform' });
  await answer(await nextQuestion(stream, 'Add Ada (ada@example.com) to Platform?'), 'accept', { add: true });
  await stream.finished();
  expect(stream.text()).toContain('"team":"Platform"');
  expect(notes()).toEqual(['added Ada <ada@example.com> to Platform']);
});

test('preferences: the defaults stand where nobody can be asked', async () => {
  const stream = await call('plan_digest', { project: 'Wiki' }, { supports: null });
  await stream.finished();
  expect(JSON.parse(stream.text())).toEqual({ every: 'week', topics: ['issues'], hour: 9 });
});

test('authorization: what the user allows is done, and nothing else', async () => {
  const input = { page: 'Budget', guest: 'eve@example.com' };
  const words = 'eve@example.com asks for access to the page "Budget". What do you allow?';
  const refused = await call('grant_access', input);
  await answer(await nextQuestion(refused, words), 'accept', { access: 'nothing', days: 7 });
  await refused.finished();
  const declined = await call('grant_access', input);
  await answer(await nextQuestion(declined, words), 'decline');
  await declined.finished();
  expect([declined.text(), notes()]).toEqual(['eve@example.com was given no access (decline).', []]);
  const granted = await call('grant_access', input);
  await answer(await nextQuestion(granted, words), 'accept', { access: 'read', days: 3 });
  await granted.finished();
  expect(notes()).toEqual(['eve@example.com may read Budget for 3 days']);
});

test('a page of one’s own: consent, a forged report and the true one are told apart', async () => {
  const stream = await call('pay_invoice', { invoice: 'i-7' });
  const elicitationId = await nextQuestion(stream, 'Pay invoice i-7');
  const question = await used.service.storage.elicitations.get(elicitationId);
  expect(question?.request).toMatchObject({
    mode: 'url',
    url: `https://pay.example.com/i-7?elicitation=${elicitationId}`,
  });
  expect(await answer(elicitationId, 'accept')).toMatchObject({
    status: 202,
    body: { status: 'pending', awaiting: 'page' },
  });
  const forged = await complete(elicitationId, await signCompletion({ elicitationId, secret: 'guessed' }));
  expect(forged.status).toBe(401);
  expect((await used.service.storage.elicitations.get(elicitationId))?.status).toBe('pending');

  const signature = await signCompletion({ elicitationId, secret });
  const done = await complete(elicitationId, signature);
  expect([done.status, await done.json()]).toEqual([
    200,
    { elicitationId, status: 'accept', duplicate: false },
  ]);
  await stream.finished();
  expect(stream.text()).toContain('"status":"paid"');
  expect(await eventsAbout(elicitationId)).toEqual([
    ['elicitation-request', 'pending'],
    ['elicitation-consented', undefined],
    ['elicitation-request', 'accept'],
  ]);
  expect(await (await complete(elicitationId, signature)).json()).toMatchObject({ duplicate: true });
});

test('a page whose user has refused is told so', async () => {
  const stream = await call('pay_invoice', { invoice: 'i-8' });
  const elicitationId = await nextQuestion(stream, 'Pay invoice i-8');
  await answer(elicitationId, 'decline');
  await stream.finished();
  expect(stream.text()).toBe('Invoice i-8 was not paid (decline).');
  expect((await complete(elicitationId, await signCompletion({ elicitationId, secret }))).status).toBe(409);
});
