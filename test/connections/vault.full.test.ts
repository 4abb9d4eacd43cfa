/** API keys through the whole service, with a person at a real browser and a server that wants keys. */
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { putAccount } from '../api/connections/accounts.ts';
import { setUpPages } from '../api/pages/pages-setup.ts';
import { vaultServer } from '../credentials/vault/vault-store.ts';
import { openPersonsBrowser } from '../e2e/person.ts';
import type { Person } from '../e2e/person.ts';
import { launchChromium } from '../browsers/chromium.ts';
import { startKeyedServer } from '../servers/keyed-server.ts';
import type { KeyedServer } from '../servers/keyed-server.ts';
import { questionsIn } from '../service/asking.ts';
import type { ChatStream } from '../service/chat-stream.ts';
import { startService } from '../service/service.ts';
import type { Service } from '../service/service.ts';
import { useDevelopmentServer } from '../service/use-development-server.ts';
import { workflowOf } from '../service/workflow-of.ts';

const agentsFile = fileURLToPath(new URL('../fixtures/vault-agents.yaml', import.meta.url));
const firstKey = 'nts_first_0123456789abcdefab12';
const secondKey = 'nts_second_0123456789abcdezz99';

const temporal = useDevelopmentServer();
let browser: Browser;
let notes: KeyedServer;
let service: Service;
let person: Person;

beforeAll(async () => {
  browser = await launchChromium();
  notes = await startKeyedServer({ header: 'x-api-key' });
});
afterAll(async () => {
  await browser.close();
  await notes.stop();
});
let running = new AsyncDisposableStack();
afterEach(async () => {
  await running.disposeAsync();
  running = new AsyncDisposableStack();
});

/** The service, Notes with one good key, and somebody at a browser. */
async function begin({ scripts = true } = {}): Promise<void> {
  notes.accepted = new Set([firstKey]);
  notes.mood = { kind: 'works' };
  notes.runs.length = 0;
  service = await startService({
    temporal,
    env: { INTERLUDE_CONFIG: agentsFile, NOTES_URL: notes.config.url },
  });
  running.defer(() => service.stop());
  await sit(scripts);
}

async function sit(scripts = true): Promise<void> {
  person = await openPersonsBrowser(browser, { scripts });
  running.defer(() => person.leave());
}

async function say(text: string, conversation = randomUUID()): Promise<ChatStream> {
  const alice = await service.as('alice');
  return alice.chat(`call notes__note {"text":"${text}"}`, { conversation });
}

async function openAsAlice(url: string): Promise<void> {
  await person.open(url);
  await person.press('Continue as Alice');
}

async function enter(key: string, button: string): Promise<void> {
  await person.page.getByLabel('Your API key').fill(key);
  await person.press(button);
}

test.each([
  ['with', true],
  ['without', false],
])('alice gives her key, %s JavaScript, and her conversation goes on with it', async (_, scripts) => {
  await begin({ scripts });
  const conversation = randomUUID();
  const stream = await say('hello', conversation);
  const question = await stream.question('pending');
  expect(question.message).toBe('Notes needs an API key of yours before its tools can be used.');
  expect(notes.requests.filter(({ headers }) => !('x-api-key' in headers))).toEqual([]);
  await openAsAlice(question.url);
  await person.sees('Connect Notes');
  const { host } = new URL(notes.config.url);
  for (const said of [
    'Asked by',
    'Assistant',
    host,
    'A key begins with “nts_”',
    'Not now',
    'Signed in as Alice',
  ])
    expect(await person.text()).toContain(said);

  await enter('nts_wrong_0123456789abcdefgh', 'Connect Notes');
  await person.page.getByText('Notes does not accept this key').waitFor();
  await person.sees('Connect Notes');
  const field = person.page.getByLabel('Your API key');
  expect(await field.inputValue()).toBe('');
  expect(await field.evaluate((element) => element === document.activeElement)).toBe(true);

  await enter(firstKey, 'Connect Notes');
  await person.sees('Notes is connected');
  expect(await person.text()).toContain('Connected as key ending in …ab12');
  await stream.question('accept');
  await stream.finished();
  expect(stream.text()).toBe('noted: hello');
  expect(notes.runs).toEqual([{ key: firstKey, note: 'hello' }]);
  expect(questionsIn(stream)).toHaveLength(1);

  await person.page.reload();
  await person.sees('Notes is connected');
  await person.open(question.url);
  await person.sees('Notes is connected');
  expect(person.page.url()).not.toContain('nts_');
  expect(JSON.stringify(stream.chunks)).not.toContain('nts_first');
  expect(await historyOf(conversation)).toContain(question.elicitationId);
  expect(await historyOf(conversation)).not.toContain('nts_');
});

test('a key that ends in the middle of a conversation is asked for once, with the reason, and the call goes on', async () => {
  await begin();
  const conversation = randomUUID();
  const first = await say('one', conversation);
  await openAsAlice((await first.question('pending')).url);
  await enter(firstKey, 'Connect Notes');
  await first.finished();

  notes.accepted = new Set([secondKey]);
  const second = await say('two', conversation);
  const question = await second.question('pending');
  expect(question).toMatchObject({
    message: 'Notes refused your API key. Enter another one to note.',
    context: { reason: 'rejected' },
  });
  await person.open(`${service.baseUrl}/connections`);
  await person.sees('Your connections');
  expect(await person.text()).toMatch(/Not working\s+Notes does not accept this key any more\./);
  await person.open(question.url);
  await person.sees('Connect Notes again');
  await enter(secondKey, 'Connect Notes');
  await person.sees('Notes is connected');
  await second.finished();
  expect(second.text()).toBe('noted: two');
  expect(questionsIn(second)).toHaveLength(1);
  expect(notes.runs).toEqual([
    { key: firstKey, note: 'one' },
    { key: secondKey, note: 'two' },
  ]);
});

test('where only calls need a key, a wrong one shows with the first call, and is asked for again before the tool has run', async () => {
  await begin();
  notes.mood = { kind: 'lists-to-all' };
  const stream = await say('hello');
  await openAsAlice((await stream.question('pending')).url);
  await enter('nts_wrong_0123456789abcdefgh', 'Connect Notes');
  await person.sees('Notes is connected');
  await stream.until(() => questionsIn(stream).length === 2);
  const again = questionsIn(stream)[1]!;
  expect(again).toMatchObject({ message: 'Notes refused your API key. Enter another one to note.' });
  await person.open(again.url);
  await enter(firstKey, 'Connect Notes');
  await person.sees('Notes is connected');
  await stream.finished();
  expect(stream.text()).toBe('noted: hello');
  expect(questionsIn(stream).map(({ status }) => status)).toEqual(['accept', 'accept']);
  expect(notes.runs).toEqual([{ key: firstKey, note: 'hello' }]);
});

test('one key from the settings page answers every question that waits for it, and the next turn asks nothing', async () => {
  await begin();
  const streams = [await say('a'), await say('b')];
  const questions = await Promise.all(streams.map((stream) => stream.question('pending')));
  await openAsAlice(questions[0]!.url);
  await person.sees('Connect Notes');
  const elsewhere = await person.page.context().newPage();
  await person.open(`${service.baseUrl}/connections`);
  await person.sees('Your connections');
  await person.follow('Connect Notes');
  await person.sees('Connect Notes');
  await enter(firstKey, 'Connect Notes');
  await person.sees('Your connections');
  expect(await person.text()).toContain('Notes is connected as key ending in …ab12');
  for (const stream of streams) {
    await stream.question('accept');
    await stream.finished();
  }
  expect(streams.map((stream) => stream.text()).toSorted()).toEqual(['noted: a', 'noted: b']);
  await elsewhere.goto(questions[1]!.url);
  await elsewhere.getByRole('heading', { name: 'Notes is connected' }).waitFor();
  const next = await say('c');
  await next.finished();
  expect([next.text(), questionsIn(next)]).toEqual(['noted: c', []]);

  notes.accepted.add(secondKey);
  await person.open(`${service.baseUrl}/connections`);
  await person.follow('Replace key Notes');
  await person.sees('Replace your key for Notes');
  await enter('not a key', 'Replace key');
  await person.page.getByText('There is a space or a line break in this key').waitFor();
  await person.sees('Replace your key for Notes');
  await enter(secondKey, 'Replace key');
  await person.sees('Your connections');
  expect(await person.text()).toContain('key ending in …zz99');
  const last = await say('d');
  await last.finished();
  expect(notes.runs.at(-1)).toEqual({ key: secondKey, note: 'd' });

  await person.follow('Disconnect Notes');
  await person.sees('Disconnect Notes?');
  await person.press('Disconnect Notes');
  await person.sees('Notes is disconnected');
  expect(await person.text()).toContain('At Notes it is still good');
});

test('while Notes is away no key is kept, the question stays, and “Not now” needs no key', async () => {
  await begin();
  const stream = await say('hello');
  await openAsAlice((await stream.question('pending')).url);
  notes.mood = { kind: 'answers', status: 503 };
  await enter(firstKey, 'Connect Notes');
  await person.page.getByText('could not be tried at Notes right now').waitFor();
  await person.sees('Connect Notes');
  await person.press('Not now');
  await person.sees('Not now, then');
  await stream.question('decline');
  await stream.finished();
  expect(notes.runs).toEqual([]);
});

test('the whole way works with the keyboard alone', async () => {
  await begin();
  const stream = await say('hello');
  await person.open((await stream.question('pending')).url);
  await person.page.getByRole('heading', { name: 'Who are you?' }).waitFor();
  await person.tabTo('Continue as Alice');
  await person.page.getByRole('heading', { name: 'Connect Notes' }).waitFor();
  const focusedField = person.page.locator('input:focus');
  await person.page.keyboard.press('Tab');
  await focusedField.waitFor();
  // Nothing in it yet: the page says so, and the field has the focus again a moment after the page is there.
  await person.page.keyboard.press('Enter');
  await person.page.getByText('Enter the key.').waitFor();
  await focusedField.waitFor();
  await person.page.keyboard.type('nts_wrong');
  await person.page.keyboard.press('Enter');
  await person.page.getByText('Notes does not accept this key').waitFor();
  await focusedField.waitFor();
  await person.page.keyboard.type(firstKey);
  await person.page.keyboard.press('Enter');
  await person.sees('Notes is connected');
  await stream.finished();
  expect(notes.runs).toEqual([{ key: firstKey, note: 'hello' }]);
});

test('every kind of key is shown for what it is on the settings page', async () => {
  const of = (name: string, title: string, more = {}) =>
    vaultServer(`https://${name}.example.com/mcp`, {
      name,
      title,
      vault: { header: 'authorization', check: false },
      ...more,
    });
  const servers = [
    of('wiki', 'Wiki'),
    of('calendar', 'Calendar'),
    of('chat', 'Chat'),
    of('storage', 'Storage'),
    of('billing', 'Billing', { credentialScope: 'project' }),
    of('mail', 'Mail'),
  ];
  const setup = await setUpPages(of('tracker', 'Tracker'), {}, servers);
  const key = (server: string) => ({ tenant: 'demo', server, user: 'alice' });
  const keep = (server: ReturnType<typeof of>) => setup.stores.vault.keep(server, key(server.name), firstKey);
  await keep(of('tracker', 'Tracker'));
  await setup.stores.vault.keep(of('wiki', 'Wiki'), key('wiki'), 'short');
  await keep(of('calendar', 'Calendar'));
  await setup.storage.connections.markBroken(key('calendar'), 1, 'rejected');
  await keep(of('chat', 'Chat', { url: 'https://old-chat.example.com/mcp' }));
  await setup.storage.connections.establish(key('storage'), {
    store: 'vault',
    account: null,
    scopes: [],
    sealed: 'lost',
    freshUntil: null,
  });
  const billing = of('billing', 'Billing', { credentialScope: 'project' });
  await setup.stores.vault.keep(billing, { ...key('billing'), user: null }, firstKey);
  await putAccount(setup, { key: key('mail'), serverUrl: 'https://mail.example.com/mcp' });
  await keep(of('gone', 'Gone'));

  await sit();
  await openAsAlice(`${setup.publicUrl}/connections`);
  await person.sees('Your connections');
  const items = await person.page.locator('.connections > li').allInnerTexts();
  expect(items.map((item) => item.replaceAll(/\s+/g, ' '))).toEqual([
    expect.stringMatching(
      /^T Tracker tracker\.example\.com · API key Connected Connected as key ending in …ab12 Since .* Replace key Tracker Disconnect Tracker$/,
    ),
    expect.stringMatching(
      /^W Wiki wiki\.example\.com · API key Connected Since .* Replace key Wiki Disconnect Wiki$/,
    ),
    expect.stringMatching(
      /Not working Calendar does not accept this key any more\. .* Replace key Calendar Disconnect Calendar$/,
    ),
    expect.stringMatching(
      /Not working Chat has moved to another address since you connected it\. .* Replace key Chat/,
    ),
    expect.stringMatching(/Not working What it is encrypted with is missing/),
    expect.stringMatching(
      /^B Billing billing\.example\.com · API key Connected One account for everybody [^…]* Since [^R]*$/,
    ),
    expect.stringMatching(
      /^M Mail .*Not working Mail is used with an API key now\. .* Reconnect Mail Disconnect Mail$/,
    ),
    expect.stringMatching(
      /^g gone gone\.example\.com · API key Not in use No agent uses this server any more.* Disconnect gone$/i,
    ),
  ]);
});

/** Everything Temporal keeps of the turn, payloads decoded. */
async function historyOf(conversation: string): Promise<string> {
  const handle = temporal.client.workflow.getHandle(await workflowOf(service.storage, conversation));
  return readable(await handle.fetchHistory());
}

function readable(value: unknown): string {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('utf8');
  if (value === null || typeof value !== 'object') return String(value);
  return Object.values(value).map(readable).join('\n');
}
