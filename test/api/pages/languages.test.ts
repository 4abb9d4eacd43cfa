/** The pages are in the language that each browser prefers; the words of servers stay as they are. */
import { expect, test } from 'vitest';
import { connectionsAddress } from '@interlude-ai/core/elicitation/account-pages.ts';
import { answerQuestion } from '../../../src/service/answer-question.ts';
import { startGuardedServer } from '../../credentials/guarded-server.ts';
import { endQuestion } from '../../storage/end-question.ts';
import { Browser, onward, words } from './browser.ts';
import { setUpPages } from './pages-setup.ts';

const german = () => new Browser('fr, de-AT;q=0.9, en;q=0.8');

test('a German browser gets the question, its page after connecting and the settings in German', async () => {
  const tracker = await startGuardedServer();
  const { ask, openAs, publicUrl, storage, link } = await setUpPages(tracker.config);
  await ask();
  await ask({ id: 'late' });
  await endQuestion(storage, 'late', 'expired');
  const { browser, page } = await openAs('alice', 'q1', german());
  expect(page.text).toContain('<html lang="de">');
  expect(page.headers.get('vary')).toContain('accept-language');
  for (const said of [
    'Tracker verbinden',
    'Tracker braucht Ihren Zugang für „list issues“.',
    'Anfrage von Assistant',
    'Rechte issues:read',
    'Restzeit 9 Minuten',
    'Angemeldet als Alice. Nicht Sie?',
  ])
    expect(words(page)).toContain(said);

  const late = await browser.open(link('late'));
  expect(late.status).toBe(410);
  expect(words(late)).toContain('Diese Frage ist abgelaufen');
  // The same person, at the same time, in a browser that prefers English.
  const { page: english } = await openAs('alice', 'late', new Browser('en-GB,de;q=0.5'));
  expect(english.text).toContain('<html lang="en">');
  expect(words(english)).toContain('This question has expired');

  const leaving = await browser.press(page, { action: 'connect' });
  expect(words(leaving)).toContain('Es geht weiter zu Tracker');
  const done = await browser.open(onward(leaving));
  expect(words(done)).toContain('Tracker ist verbunden');
  const settings = words(await browser.open(connectionsAddress(publicUrl)));
  for (const said of ['Ihre Verbindungen', 'Verbunden', 'Seit', 'Trennen']) expect(settings).toContain(said);
  expect(words(await browser.open(`${publicUrl}/auth/client/none`))).toContain('Hier gibt es nichts');
});

test('what keeps an account from being connected is said in the language of the browser', async () => {
  const tracker = await startGuardedServer();
  const { ask, openAs } = await setUpPages(tracker.config);
  await ask();
  await tracker.authorization.leave();
  const { browser, page } = await openAs('alice', 'q1', german());
  const failed = words(await browser.press(page, { action: 'connect' }));
  expect(failed).toMatch(/Der Anmeldeserver von Tracker \(127\.0\.0\.1:\d+\) ist nicht zu erreichen/);
  const { browser: other, page: english } = await openAs('alice', 'q1', new Browser('en'));
  expect(words(await other.press(english, { action: 'connect' }))).toMatch(
    /Tracker \(127\.0\.0\.1:\d+\): its sign-in server cannot be reached or gives no usable answer/,
  );
});

const form = {
  mode: 'form',
  message: 'Where to?',
  context: { trigger: 'mcp_elicitation', agent: 'assistant', server: 'tracker', serverTitle: 'Tracker' },
  requestedSchema: {
    type: 'object',
    properties: {
      city: { type: 'string', title: 'City', minLength: 3 },
      nights: { type: 'integer', title: 'Nights' },
      code: { type: 'string', title: 'Code', pattern: '^[A-Z]+$' },
    },
    required: ['city'],
  },
};

test('a form says in German what does not fit, around the words of its server', async () => {
  const parts: { answer?: Parameters<typeof answerQuestion>[0] } = {};
  const { ask, openAs, storage, keys, publicUrl } = await setUpPages(undefined, {
    answer: (...given) => answerQuestion(parts.answer as never, ...given),
  });
  parts.answer = { storage, keys, config: { http: { publicUrl } } as never };
  await ask({ id: 'form', server: null, request: form as never });
  const { browser, page } = await openAs('alice', 'form', german());
  for (const said of ['Tracker fragt Sie', 'Where to?', 'Mindestens 3 Zeichen.', 'optional', 'Nicht jetzt'])
    expect(words(page)).toContain(said);
  const refused = await browser.press(page, {
    action: 'accept',
    'f.city': 'X',
    'f.nights': 'two',
    'f.code': 'a1',
  });
  expect(refused.status).toBe(422);
  expect(refused.text).toMatch(/<title>\s*Noch nicht beantwortet: Tracker fragt Sie/);
  for (const said of [
    'Bitte prüfen Sie 3 Felder.',
    'Mindestens 3 Zeichen.',
    'Bitte eine Zahl eingeben.',
    'Es muss zu ^[A-Z]+$ passen.',
  ])
    expect(words(refused)).toContain(said);
  const answered = await browser.press(refused, { action: 'accept', 'f.city': 'Ulm' });
  expect(words(answered)).toContain('Der Agent macht mit Ihrer Antwort weiter.');
});

test('an approval is asked for and given in German', async () => {
  const { ask, openAs } = await setUpPages();
  const context = { ...form.context, trigger: 'approval', toolName: 'list_issues', arguments: '{}' };
  await ask({ id: 'approval', server: null, request: { ...form, context } as never });
  const { browser, page } = await openAs('alice', 'approval', german());
  expect(words(page)).toContain('assistant möchte „list issues“ in Tracker ausführen. Stimmen Sie zu?');
  expect(words(page)).toContain('Ablehnen und sagen, warum');
  expect(words(await browser.press(page, { action: 'accept' }))).toContain('Zugestimmt');
});

test('operators read a turn in German', async () => {
  const operator = { claim: 'sub', role: 'bob', contentsRole: undefined };
  const { ask, publicUrl } = await setUpPages(undefined, {}, [], {}, undefined, { operator });
  await ask();
  const browser = german();
  const signIn = await browser.open(`${publicUrl}/operators`);
  expect(words(await browser.press(signIn, { user: 'bob' }))).toContain('wartet');
  const list = await browser.open(`${publicUrl}/operators/questions`);
  expect(words(list)).toContain('alice sollte Tracker verbinden');
  expect(words(list)).toMatch(/Offen seit \d+,\d s; noch \d+ min/);
  const turn = await browser.open(`${publicUrl}/operators/turns/t-q1`);
  expect(words(turn)).toContain('assistant für alice');
  expect(words(turn)).toContain('Wartet auf alice: Tracker verbinden');
});
