/** The page on which the person who was asked answers anything but a question about an account: it needs no script. */
import { expect, test } from 'vitest';
import { Browser, words } from '../api/pages/browser.ts';
import type { Shown } from '../api/pages/browser.ts';
import { asks, form, page } from '../servers/scripted-mcp-server.ts';
import { en } from '@interlude-ai/core/elicitation/words/en.ts';
import { useAskingService } from './asking-service.ts';
import type { AskedTurn } from './asking-service.ts';

const setup = useAskingService({ env: { ASKING_APPROVAL: 'always' } });
const fields = {
  city: { type: 'string', title: 'City', minLength: 2, description: 'Where to' },
  nights: { type: 'integer', title: 'Nights', minimum: 1 },
  pets: { type: 'boolean', title: 'Pets' },
  meals: { type: 'array', items: { type: 'string', enum: ['breakfast', 'dinner'] } },
};

async function openAs(user: string, elicitationId: string) {
  const browser = new Browser();
  const signIn = await browser.open(`${setup.service.baseUrl}/auth/answer?e=${elicitationId}`);
  return { browser, shown: await browser.press(signIn, { user }) };
}

async function opened(turn: AskedTurn, n: number) {
  const { elicitationId } = await turn.question(n);
  return { elicitationId, ...(await openAs('alice', elicitationId)) };
}

const approve = async (turn: AskedTurn) => turn.answer(0, { action: 'accept' });
const csrfOf = ({ text }: Shown) => /name="csrf"\s+value="([^"]*)"/.exec(text)?.[1] ?? '';

test('a call is approved where its arguments are shown, and is not asked about again in this conversation', async () => {
  const turn = await setup.begin([], { input: { title: '<b>"hello"</b>' } });
  const { browser, shown } = await opened(turn, 0);
  expect(shown.status).toBe(200);
  expect(words(shown)).toContain('Assistant asks for your approval');
  expect(shown.text).toContain('&quot;title&quot;: &quot;&lt;b&gt;\\&quot;hello\\&quot;&lt;/b&gt;&quot;');
  const done = await browser.press(shown, { action: 'accept' }, { remember: 'conversation' });
  expect(words(done)).toContain('Approved The agent makes this call now.');
  expect((await turn.end()).text).toBe('done');
  const { elicitationId } = await turn.question(0);
  const later = await browser.open(`${setup.service.baseUrl}/auth/answer?e=${elicitationId}`);
  expect(words(later)).toContain('Approved You have approved this call.');

  const again = await setup.begin([], { conversation: turn.conversation });
  expect((await again.end()).questions).toEqual([]);
});

test('a refusal takes its reason to the model', async () => {
  const turn = await setup.begin([]);
  const { browser, shown } = await opened(turn, 0);
  const done = await browser.press(shown, { action: 'decline' }, { reason: 'Not on a Sunday' });
  expect(words(done)).toContain('Declined');
  expect((await turn.end()).error).toContain('Not on a Sunday');
});

test('a form keeps what was typed until it fits, and is settled then', async () => {
  const turn = await setup.begin([asks({ trip: form('Where to?', fields) })]);
  await approve(turn);
  const { browser, shown, elicitationId } = await opened(turn, 1);
  for (const said of [
    'Asking asks you',
    'Where to?',
    'City',
    'Where to',
    'Nights',
    en.tooShort(2),
    en.atLeast(1),
    'Pets',
    'breakfast',
    'Signed in as Alice',
  ])
    expect(words(shown)).toContain(said);

  const wrong = await browser.press(shown, { action: 'accept' }, { 'f.city': '<L', 'f.nights': 'two' });
  expect(wrong.status).toBe(422);
  for (const said of [en.checkFields(1), en.notANumber]) expect(words(wrong)).toContain(said);
  expect(wrong.text).toContain('value="&lt;L"');
  expect(wrong.text).toContain('value="two"');

  const right = { 'f.city': 'Lisbon', 'f.nights': '2', 'f.pets': 'false', 'f.meals': 'dinner' };
  const done = await browser.press(wrong, { action: 'accept' }, right);
  expect(words(done)).toContain('Answered');
  expect((await turn.end()).text).toBe('done');
  expect(setup.server.calls.at(-1)?.params.inputResponses).toEqual({
    trip: { action: 'accept', content: { city: 'Lisbon', nights: 2, pets: false, meals: ['dinner'] } },
  });

  const link = `${setup.service.baseUrl}/auth/answer?e=${elicitationId}`;
  expect(words(await browser.open(link))).toContain('Answered');
  const late = await browser.post(
    link.split('?')[0] ?? '',
    { e: elicitationId, csrf: csrfOf(shown), action: 'decline' },
    setup.service.baseUrl,
  );
  expect(words(late)).toContain('Answered');
});

test('a long answer is taken, and a choice that is optional can be left open again', async () => {
  const story = { type: 'string', title: 'Story', maxLength: 100_000 };
  const seat = { type: 'string', title: 'Seat', enum: ['window', 'aisle'], default: 'aisle' };
  const meal = { type: 'string', title: 'Meal', enum: ['vegan', 'fish'] };
  const pets = { type: 'boolean', title: 'Pets' };
  const turn = await setup.begin([asks({ trip: form('Tell us', { story, seat, meal, pets }) })]);
  await approve(turn);
  const { browser, shown } = await opened(turn, 1);
  expect(shown.text).toMatch(/name="f\.meal"\s+value=""\s+checked/);
  expect(shown.text).toMatch(/name="f\.seat"\s+value="aisle"\s+checked/);
  expect(shown.text).toMatch(/name="f\.seat"\s+value=""\s+\/>/);
  const long = 'é'.repeat(60_000);
  const done = await browser.press(
    shown,
    { action: 'accept' },
    { 'f.story': long, 'f.seat': '', 'f.meal': '' },
  );
  expect(words(done)).toContain('Answered');
  await turn.end();
  expect(setup.server.calls.at(-1)?.params.inputResponses).toEqual({
    // A box that is not checked is sent by no browser.
    trip: { action: 'accept', content: { story: long, pets: false } },
  });
});

test('a page of somebody else is opened with consent, which is on record', async () => {
  const turn = await setup.begin([asks({ there: page('https://example.com/a?b=c') })]);
  await approve(turn);
  const { browser, shown } = await opened(turn, 1);
  expect(words(shown)).toContain('https:// example.com /a?b=c Open the page');
  const going = await browser.press(shown, { action: 'accept' });
  expect(going.text).toContain('content="0; url=https://example.com/a?b=c"');
  expect((await turn.end()).text).toBe('done');
});

test('dismissed is dismissed', async () => {
  const turn = await setup.begin([]);
  const { browser, shown } = await opened(turn, 0);
  const done = await browser.press(shown, { action: 'cancel' });
  expect(words(done)).toContain('This question is closed');
  expect((await turn.end()).error).toContain('dismissed');
});

test('somebody else sees nothing of it, and what did not come from the page changes nothing', async () => {
  const turn = await setup.begin([], { input: { title: 'a secret plan' } });
  const { elicitationId, browser, shown } = await opened(turn, 0);
  const bob = await openAs('bob', elicitationId);
  expect(bob.shown.status).toBe(403);
  expect(bob.shown.text).not.toContain('a secret plan');
  const address = `${setup.service.baseUrl}/auth/answer`;
  const fields = { e: elicitationId, action: 'accept' };
  const csrf = csrfOf(shown);
  const refused = [
    await browser.post(address, { ...fields, csrf }, 'https://evil.example'),
    await browser.post(address, { ...fields, csrf: 'x' }, setup.service.baseUrl),
    await new Browser().post(address, { ...fields, csrf }, setup.service.baseUrl),
    await bob.browser.post(address, { ...fields, csrf }, setup.service.baseUrl),
    await browser.post(address, { ...fields, csrf, action: 'connect' }, setup.service.baseUrl),
    await browser.post(address, { ...fields, csrf, remember: 'for ever' }, setup.service.baseUrl),
  ];
  expect(refused.map(({ status }) => status)).toEqual([403, 403, 403, 403, 400, 400]);
  expect(turn.statuses()).toEqual(['pending']);
  await turn.answer(0, { action: 'decline' });
  await turn.end();
});

test('what waits is listed with a link to it, and afterwards what was answered and what came of it', async () => {
  const { baseUrl } = setup.service;
  const turn = await setup.begin([]);
  const { browser, elicitationId } = await opened(turn, 0);
  const waiting = await browser.open(`${baseUrl}/connections/waiting`);
  expect(waiting.text).toContain(`/auth/answer?e=${elicitationId}`);
  expect(words(waiting)).toMatch(/Waiting for you 1 .*waits until/);
  const led = await browser.open(`${baseUrl}/auth/connect?e=${elicitationId}`);
  expect(words(led)).toContain('asks for your approval');
  await turn.answer(0, { action: 'decline' });
  await turn.end();
  expect((await browser.open(`${baseUrl}/connections/waiting`)).text).not.toContain(elicitationId);

  const next = await setup.begin([]);
  await approve(next);
  await next.end();
  const history = words(await browser.open(`${baseUrl}/connections/history`));
  expect(history).toMatch(/· [^·]*Done .*· [^·]*Not done/);
  const bob = await openAs('bob', elicitationId);
  const others = await bob.browser.open(`${baseUrl}/connections/history`);
  expect(words(others)).toContain('You have not answered anything yet.');
});
