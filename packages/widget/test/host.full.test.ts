/** The widget in somebody's app: as a React component, told what the page shows, and through everything a page does to it. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { InterludeChatElement } from '../src/interlude-chat.ts';
import { setUpHostPages } from './host-pages.ts';
import type { HostPages, HostVisit } from './host-pages.ts';

let setup: HostPages;
beforeAll(async () => {
  setup = await setUpHostPages();
}, 120_000);
afterAll(() => setup[Symbol.asyncDispose]());

/** What the page has for its tests. */
interface Host {
  heard: Record<string, unknown>[];
  chat: InterludeChatElement;
  show(props: object | null): void;
  /** As they are now. */
  props: { open?: boolean };
}

async function say(page: Page, text: string, chat = 'interlude-chat'): Promise<void> {
  await page.locator(`${chat} textarea`).fill(text);
  // Enter says nothing while the agent is at work; a click waits until it is not.
  await page.locator(`${chat} .composer button:not([type])`).click();
}

/** What the model was given last, the agent's own instructions aside. */
function told(): unknown[] {
  return setup.model.requests.at(-1)?.body.messages.filter(({ role }) => role !== 'system') ?? [];
}

const shown = (text: string) => ({ type: 'text', text: expect.stringMatching(new RegExp(`\n> ${text}$`)) });
const heard = (page: Page) => page.evaluate(() => (globalThis as unknown as Host).heard);

describe('as a React component', () => {
  const show = (page: Page, props: object | null) =>
    page.evaluate((given) => (globalThis as unknown as Host).show(given), props);

  async function open(props: object): Promise<HostVisit> {
    const visit = await setup.visit('react');
    await visit.page.waitForFunction(() => document.title === 'ready');
    await show(visit.page, { api: visit.api, user: 'bob', ...props });
    return visit;
  }

  test('it is rendered on a server, taken over in strict mode, and tells what happens', async () => {
    const { page, leave } = await open({ suggestions: ['list my open issues'] });
    expect(await page.locator('section > interlude-chat.helper').getAttribute('style')).toContain('400px');
    await page.getByRole('button', { name: 'list my open issues' }).click();
    await page.getByRole('button', { name: 'Not now' }).click();
    await page.getByText('Tracker: You said “not now”').waitFor();
    await expect
      .poll(() => heard(page))
      .toEqual([
        { type: 'turn-started' },
        expect.objectContaining({ type: 'elicitation', mode: 'url', status: 'pending', server: 'tracker' }),
        expect.objectContaining({ type: 'elicitation', status: 'decline' }),
        { type: 'turn-ended' },
      ]);
    await leave();
  });

  test('the agent is told what the page shows now, and nobody sees it said', async () => {
    const { page, leave } = await open({ agent: 'seer', shown: 'Order 1043' });
    await say(page, 'What is this?');
    await page.getByText('Noted.').waitFor();
    expect(told()).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'What is this?' }, shown('Order 1043')] },
    ]);
    await show(page, { shown: 'Order 1044' });
    await say(page, 'And this?');
    await page.getByText('Noted.').nth(1).waitFor();
    expect(told().at(-1)).toEqual({
      role: 'user',
      content: [{ type: 'text', text: 'And this?' }, shown('Order 1044')],
    });
    const conversation = await page.evaluate(() => (globalThis as unknown as Host).chat.conversation);
    await leave();
    const again = await open({ conversation });
    await again.page.getByText('And this?').waitFor();
    expect(await again.page.getByText(/Order 104/).count()).toBe(0);
    await again.leave();
  });

  test('it is opened and closed by the app and by the person, and neither loses track', async () => {
    const { page, leave } = await open({ floating: true, open: false });
    await page.getByRole('button', { name: 'Open the conversation' }).waitFor();
    expect(await page.locator('.panel').isVisible()).toBe(false);
    await show(page, { open: true });
    await page.locator('textarea:focus').waitFor();
    await page.keyboard.press('Escape');
    await page.locator('.launcher:focus').waitFor();
    // What an app asks for before it has taken in what the person did is nothing new to its React.
    await page.waitForFunction(() => !(globalThis as unknown as Host).props.open);
    await show(page, { open: true });
    await page.locator('.panel').waitFor();
    await page.evaluate(() => (globalThis as unknown as Host).chat.close());
    await page.locator('.panel').waitFor({ state: 'hidden' });
    await leave();
  });

  test('other props change what is there and keep the conversation', async () => {
    const { page, leave } = await open({});
    await say(page, 'hello');
    await page.getByText('You said: hello').waitFor();
    await page.locator('textarea').fill('half a sent');
    await show(page, { texts: { composerPlaceholder: 'Ask the shop' }, theme: 'dark', lang: 'de' });
    await page.getByPlaceholder('Ask the shop').waitFor();
    await page.getByRole('button', { name: 'Senden' }).waitFor();
    await show(page, { texts: undefined, lang: undefined });
    await page.getByRole('button', { name: 'Send', exact: true }).waitFor();
    await page.getByPlaceholder('Ask the shop').waitFor({ state: 'detached' });
    await expect.poll(() => page.locator('textarea').inputValue()).toBe('half a sent');
    expect(await page.getByText('You said: hello').count()).toBe(1);
    await expect
      .poll(async () => (await heard(page)).map(({ type }) => type))
      .toEqual(['turn-started', 'turn-ended']);
    await leave();
  });

  test('whoever signs in next finds nothing of the one before, and taken away it leaves no connection', async () => {
    const { page, leave, open: requests } = await open({ user: 'bob' });
    await say(page, 'list my open issues');
    await page.locator('.card').waitFor();
    await show(page, { user: 'alice' });
    await page.locator('.card').waitFor({ state: 'detached' });
    await expect.poll(() => requests('bob')).toEqual([]);
    expect(await page.getByText('list my open issues').count()).toBe(0);
    await say(page, 'hello');
    await page.getByText('You said: hello').waitFor();
    await show(page, null);
    await page.locator('interlude-chat').waitFor({ state: 'detached' });
    await expect.poll(() => requests('alice')).toEqual([]);
    // The place remembers a conversation, which is not hers.
    await leave(/status of 404/);
  });
});

describe('as an element of a page', () => {
  /** `set`: what is done with the element, `chat`, before it is put into the page. */
  async function put(page: Page, set: string): Promise<void> {
    await page.evaluate(`{
      globalThis.heard ??= [];
      globalThis.fetchToken ??= (user) => async () => (await fetch('/token?user=' + user)).text();
      const chat = document.createElement('interlude-chat');
      globalThis.chat ??= chat;
      for (const type of ['elicitation', 'turn-started', 'turn-ended', 'opened', 'closed'])
        chat.addEventListener(type, ({ detail }) => heard.push({ type, ...detail }));
      ${set};
      document.querySelector('main').append(chat);
    }`);
  }

  async function load(page: Page, api: string, set: string): Promise<void> {
    await put(page, `chat.setAttribute('api', ${JSON.stringify(api)}); ${set}`);
    await page.addScriptTag({ type: 'module', url: `${api}/widget.js` });
  }

  async function open(set: string): Promise<HostVisit> {
    const visit = await setup.visit('plain');
    await load(visit.page, visit.api, set);
    return visit;
  }

  const chat = (page: Page, code: string) => page.evaluate(`{ ${code} }`);
  const types = async (page: Page) => (await heard(page)).map(({ type }) => type);

  test('what it was given before its script had loaded counts', async () => {
    const { page, leave } = await open(
      "chat.token = fetchToken('bob'); chat.suggestions = ['hello']; chat.texts = { welcome: 'Well?' }; chat.context = 'Order 1'; chat.setAttribute('agent', 'seer')",
    );
    await page.getByText('Well?').waitFor();
    await page.getByRole('button', { name: 'hello' }).click();
    await page.getByText('Noted.').waitFor();
    expect(told()).toEqual([{ role: 'user', content: [{ type: 'text', text: 'hello' }, shown('Order 1')] }]);
    await leave();
  });

  test('a page that cannot say what it shows keeps nobody from asking, and hears why', async () => {
    const { page, leave } = await open(
      "chat.token = fetchToken('bob'); chat.setAttribute('agent', 'seer'); chat.context = () => { throw new Error('no order here') }",
    );
    await say(page, 'first');
    await page.getByText('Noted.').waitFor();
    expect(told()).toEqual([{ role: 'user', content: 'first' }]);
    await chat(page, "chat.context = () => 'x'.repeat(20_000)");
    await say(page, 'second');
    await page.getByText('Noted.').nth(1).waitFor();
    expect(told().at(-1)).toEqual({
      role: 'user',
      content: [{ type: 'text', text: 'second' }, shown('x{16000}')],
    });
    await chat(page, 'chat.context = () => undefined');
    await say(page, 'third');
    await page.getByText('Noted.').nth(2).waitFor();
    expect(told().at(-1)).toEqual({ role: 'user', content: 'third' });
    await leave(/^no order here$/);
  });

  test('two of them in one page are two conversations, of two people', async () => {
    const { page, api, leave } = await open("chat.id = 'one'; chat.token = fetchToken('bob')");
    await put(
      page,
      `chat.id = 'two'; chat.setAttribute('api', ${JSON.stringify(api)}); chat.token = fetchToken('alice')`,
    );
    await say(page, 'list my open issues', '#one');
    await page.locator('#one .card').waitFor();
    await say(page, 'hello', '#two');
    await page.locator('#two').getByText('You said: hello').waitFor();
    expect(await page.locator('#two .card, #one .markdown').count()).toBe(0);
    await page.locator('#one').getByRole('button', { name: 'Not now' }).click();
    await page.locator('#one').getByText('Tracker: You said “not now”').waitFor();
    expect(await page.locator('#two .settled').count()).toBe(0);
    await leave();
  });

  test('taken out of the page it is silent, and put back it goes on where it was', async () => {
    const { page, leave, open: requests } = await open("chat.token = fetchToken('bob')");
    await say(page, 'hello');
    await page.getByText('You said: hello').waitFor();
    await say(page, 'list my open issues');
    await page.locator('.card').waitFor();
    await expect.poll(() => types(page)).toContain('elicitation');
    // A letter, and gone in the same moment.
    await chat(
      page,
      `const input = chat.shadowRoot.querySelector('textarea');
       input.value = 'half a sent';
       input.dispatchEvent(new Event('input', { bubbles: true }));
       chat.remove();`,
    );
    // The first time it reads what it has sent, the second time what it has come back to.
    for (let times = 0; times < 2; times++) {
      await chat(page, 'chat.remove()');
      await expect.poll(() => requests('bob')).toEqual([]);
      await chat(page, "document.querySelector('main').append(chat)");
      await page.locator('.card').waitFor();
      await expect.poll(async () => (await types(page)).at(-1)).toBe('turn-started');
    }
    expect(await page.getByText('You said: hello').count()).toBe(1);
    await expect.poll(() => page.locator('textarea').inputValue()).toBe('half a sent');
    await page.getByRole('button', { name: 'Not now' }).click();
    await page.getByText('Tracker: You said “not now”').waitFor();
    await expect
      .poll(() => types(page))
      .toEqual([
        'turn-started',
        'turn-ended',
        'turn-started',
        'elicitation',
        'turn-ended',
        'turn-started',
        'turn-ended',
        'turn-started',
        'elicitation',
        'turn-ended',
      ]);
    await leave();
  });

  test('another token is another sign-in: nothing that was said, asked or begun stays', async () => {
    const { page, leave, open: requests } = await open("chat.token = fetchToken('bob')");
    await say(page, 'list my open issues');
    await page.locator('.card').waitFor();
    await page.locator('textarea').fill('my secret');
    await expect.poll(() => page.evaluate(() => JSON.stringify(sessionStorage))).toContain('my secret');
    const before = await page.evaluate(() => (globalThis as unknown as Host).chat.conversation);
    await chat(page, "chat.token = fetchToken('alice')");
    await page.locator('.card').waitFor({ state: 'detached' });
    await expect.poll(() => requests('bob')).toEqual([]);
    expect(await page.locator('textarea').inputValue()).toBe('');
    expect(await page.evaluate(() => JSON.stringify(sessionStorage))).not.toContain('my secret');
    expect(await page.evaluate(() => (globalThis as unknown as Host).chat.conversation)).not.toBe(before);
    expect((await types(page)).at(-1)).toBe('turn-ended');
    await say(page, 'hello');
    await page.getByText('You said: hello').waitFor();
    await chat(page, "chat.token = ''");
    await page.locator('textarea').waitFor({ state: 'detached' });
    expect(await page.evaluate(() => (globalThis as unknown as Host).chat.shadowRoot?.textContent)).toBe('');
    await expect.poll(() => requests('alice')).toEqual([]);
    await leave();
  });

  test('a reload comes back to the conversation, to what waits in it and to what was being written', async () => {
    const given = "chat.id = 'help'; chat.token = fetchToken('bob')";
    const { page, api, leave } = await open(given);
    await say(page, 'list my open issues');
    await page.locator('.card').waitFor();
    await page.locator('textarea').fill('half a sent');
    await page.reload();
    await load(page, api, given);
    await page.locator('.card').waitFor();
    await expect.poll(() => page.locator('textarea').inputValue()).toBe('half a sent');
    await page.getByRole('button', { name: 'Not now' }).click();
    await page.getByText('Tracker: You said “not now”').waitFor();
    await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached' });
    // What is settled by now is no news to a later reader.
    await page.reload();
    await load(page, api, given);
    await page.getByText('Tracker: You said “not now”').waitFor();
    expect(await types(page)).toEqual([]);
    await page.reload();
    await load(page, api, `chat.setAttribute('conversation', 'another'); ${given}`);
    await page.getByText('What can I do for you?').waitFor();
    await chat(page, "chat.startAnew(); chat.setAttribute('lang', 'de')");
    await page.getByText('Was kann ich für Sie tun?').waitFor();
    expect(await page.locator('.message').count()).toBe(0);
    await page.reload();
    await load(page, api, given);
    await page.getByText('What can I do for you?').waitFor();
    await leave(/status of 404/);
  });

  test('whoever signs in after a reload finds nothing of the one before', async () => {
    const { page, api, leave } = await open("chat.token = fetchToken('bob')");
    await say(page, 'hello');
    await page.getByText('You said: hello').waitFor();
    await page.locator('textarea').fill('my secret');
    const before = await page.evaluate(() => (globalThis as unknown as Host).chat.conversation);
    await page.reload();
    await load(page, api, "chat.token = fetchToken('alice')");
    await page.getByText('What can I do for you?').waitFor();
    expect(await page.locator('textarea').inputValue()).toBe('');
    expect(await page.evaluate(() => (globalThis as unknown as Host).chat.conversation)).not.toBe(before);
    expect(await page.evaluate(() => JSON.stringify(sessionStorage))).not.toMatch(/my secret/);
    await say(page, 'good day');
    await page.getByText('You said: good day').waitFor();
    await leave(/status of 404/);
  });

  test('what they begin to write before that is known stays under their hands', async () => {
    const { page, api, leave } = await open("chat.token = fetchToken('bob')");
    await say(page, 'hello');
    await page.getByText('You said: hello').waitFor();
    await page.locator('textarea').fill('my secret');
    await page.reload();
    const released = Promise.withResolvers<void>();
    await page.route('**/conversations/**', async (route) => {
      await released.promise;
      await route.continue();
    });
    await load(page, api, "chat.token = fetchToken('alice')");
    await page.locator('textarea').focus();
    await page.keyboard.type('good ');
    released.resolve();
    await page.getByText('What can I do for you?').waitFor();
    await page.keyboard.type('day');
    expect(await page.locator('textarea').inputValue()).toBe('good day');
    await page.keyboard.press('Enter');
    await page.getByText('You said: good day').waitFor();
    expect(await page.evaluate(() => JSON.stringify(sessionStorage))).not.toMatch(/my secret|good day/);
    await leave(/status of 404/);
  });

  test('two that nothing tells apart do not become one', async () => {
    const given = "chat.token = fetchToken('bob')";
    const { page, api, leave } = await open(given);
    await put(page, `chat.id = ''; chat.className = 'two'; chat.setAttribute('api', '${api}'); ${given}`);
    await say(page, 'hello', 'interlude-chat:not(.two)');
    await say(page, 'good day', '.two');
    await page.getByText('You said: good day').waitFor();
    await page.reload();
    await load(page, api, given);
    await put(page, `chat.setAttribute('api', '${api}'); ${given}`);
    await page.locator('.bubble').waitFor();
    await page.getByText('What can I do for you?').waitFor();
    expect(await page.locator('.bubble').count()).toBe(1);
    await leave();
  });

  test('moved while a message is on its way, it goes on when it arrived, and is a draft when it did not', async () => {
    const { page, leave } = await open("chat.token = fetchToken('bob')");
    const move = () => chat(page, "chat.remove(); document.querySelector('main').append(chat)");
    const posted = Promise.withResolvers<void>();
    const moved = Promise.withResolvers<void>();
    await page.route('**/run/api/chat', async (route) => {
      const response = await route.fetch();
      posted.resolve();
      await moved.promise;
      await route.fulfill({ response }).catch(() => undefined);
    });
    await say(page, 'hello');
    await posted.promise;
    await move();
    moved.resolve();
    await page.getByText('You said: hello').waitFor();
    await page.unroute('**/run/api/chat');

    const asked = page.waitForRequest('**/run/api/chat');
    await page.route('**/run/api/chat', () => undefined);
    await expect.poll(() => page.locator('textarea').inputValue()).toBe('hello');
    await page.locator('textarea').fill('good day');
    await page.getByRole('button', { name: 'Send' }).click();
    await asked;
    await move();
    await expect.poll(() => page.locator('textarea').inputValue()).toBe('good day');
    expect(await page.locator('.bubble').allInnerTexts()).toEqual(['hello']);
    await leave();
  });

  test('a token that cannot be fetched for a moment ends nothing, and nothing is sent twice', async () => {
    const { page, leave } = await open(
      "globalThis.fails = false; const get = fetchToken('bob'); chat.token = async () => { if (fails) throw new Error('offline'); return get(); }",
    );
    let posts = 0;
    page.on('request', (request) => void (posts += Number(/run.api.chat$/.test(request.url()))));
    await say(page, 'list my open issues');
    await page.locator('.card').waitFor();
    await chat(page, 'globalThis.fails = true');
    const refused = page.waitForResponse((response) => response.status() === 401);
    await page.route('**/elicitation-responses', (route) =>
      route.continue({ headers: { ...route.request().headers(), authorization: 'Bearer stale' } }),
    );
    await page.getByRole('button', { name: 'Not now' }).click();
    await refused;
    await page.unroute('**/elicitation-responses');
    await chat(page, 'globalThis.fails = false');
    await page.getByText('Tracker: You said “not now”').waitFor();
    expect(posts).toBe(1);
    expect(await page.getByRole('alert').count()).toBe(0);
    await leave(/status of 401/);
  });

  test('attributes that a template left empty are none, and texts that nobody translated are ours', async () => {
    const { page, leave } = await open("chat.token = fetchToken('bob')");
    await chat(
      page,
      "chat.setAttribute('conversation', ''); chat.setAttribute('agent', ''); chat.texts = { timeLeft: undefined, welcome: 'Well?' }",
    );
    await page.getByText('Well?').waitFor();
    await say(page, 'list my open issues');
    await page.locator('.card').waitFor();
    await leave();
  });

  test('in a corner it is opened where it ends, and in a row it is as wide as one can read', async () => {
    const { page, leave } = await open("chat.token = fetchToken('bob'); chat.setAttribute('floating', '')");
    const log = page.locator('.log');
    const fromEnd = () => log.evaluate((e) => e.scrollHeight - e.scrollTop - e.clientHeight);
    await chat(page, 'chat.open()');
    for (let times = 0; times < 8; times++) {
      await say(page, `hello ${times}`);
      await page.getByText(`You said: hello ${times}`).waitFor();
    }
    await chat(page, 'chat.close()');
    await chat(page, 'globalThis.chat.remove(); document.querySelector("main").append(globalThis.chat)');
    await page.getByText('You said: hello 7').waitFor({ state: 'attached' });
    await chat(page, 'chat.open()');
    await page.getByText('You said: hello 7').waitFor();
    expect(await log.evaluate((e) => e.scrollHeight > e.clientHeight)).toBe(true);
    await expect.poll(fromEnd).toBeLessThan(2);
    await chat(
      page,
      "chat.removeAttribute('floating'); document.querySelector('main').style = 'display: flex'",
    );
    await expect.poll(async () => (await page.locator('interlude-chat').boundingBox())?.width).toBe(320);
    await leave();
  });

  test('moved into a corner of the page and back it goes on, in the middle of a question', async () => {
    const { page, leave } = await open("chat.token = fetchToken('bob')");
    await say(page, 'list my open issues');
    await page.locator('.card').waitFor();
    await page.locator('textarea').fill('half a sent');
    await chat(
      page,
      "globalThis.card = chat.shadowRoot.querySelector('.card'); chat.setAttribute('floating', '')",
    );
    await page.getByRole('button', { name: 'Open the conversation, one question waits' }).click();
    await page.locator('.panel .card').waitFor();
    await chat(page, "chat.removeAttribute('floating')");
    await page.locator('.panel').waitFor({ state: 'detached' });
    expect(await page.evaluate(() => (globalThis as unknown as { card: Element }).card.isConnected)).toBe(
      true,
    );
    await expect.poll(() => page.locator('textarea').inputValue()).toBe('half a sent');
    await page.getByRole('button', { name: 'Not now' }).click();
    await page.getByText('Tracker: You said “not now”').waitFor();
    await expect
      .poll(() => types(page))
      .toEqual(['turn-started', 'elicitation', 'opened', 'elicitation', 'turn-ended']);
    await leave();
  });

  test('another agent begins a conversation of its own; other attributes keep it', async () => {
    const { page, leave } = await open("chat.token = fetchToken('bob')");
    await say(page, 'hello');
    await page.getByText('You said: hello').waitFor();
    await chat(page, "chat.setAttribute('floating', ''); chat.open()");
    await page.locator('.panel').getByText('You said: hello').waitFor();
    await chat(page, 'chat.close()');
    await page.locator('.panel').waitFor({ state: 'hidden' });
    await chat(page, "chat.removeAttribute('floating'); chat.setAttribute('theme', 'dark')");
    await page.getByText('You said: hello').waitFor();
    await chat(page, "chat.setAttribute('agent', 'seer')");
    await page.getByText('You said: hello').waitFor({ state: 'detached' });
    await say(page, 'and you?');
    await page.getByText('Noted.').waitFor();
    await expect.poll(async () => (await types(page)).at(-1)).toBe('turn-ended');
    const ofTurns = (await types(page)).filter((type) => String(type).startsWith('turn'));
    expect(ofTurns).toEqual(['turn-started', 'turn-ended', 'turn-started', 'turn-ended']);
    expect((await types(page)).filter((type) => !ofTurns.includes(type))).toEqual(['opened', 'closed']);
    await leave();
  });
});
