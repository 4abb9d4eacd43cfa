/** What every state looks like: to eyes, to readers of screens, on a phone and on a desk, by day and by night. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { startTcpProxy } from '../../../test/servers/tcp-proxy.ts';
import type { TcpProxy } from '../../../test/servers/tcp-proxy.ts';
import { connectAccount } from '../../../test/service/connect-account.ts';
import { message, openGallery, question, said } from './gallery.ts';
import type { Gallery } from './gallery.ts';
import { look, lookInForcedColors } from './look.ts';
import type { Visitor } from './widget-page.ts';

// A test looks at up to five states, each in six shapes, with axe: that is work, not waiting.
vi.setConfig({ testTimeout: 90_000 });

let gallery: Gallery;
let line: TcpProxy;

beforeAll(async () => {
  gallery = await openGallery();
  line = await startTcpProxy({ to: Number(new URL(gallery.setup.service.baseUrl).port) });
});
afterAll(async () => {
  await line.stop();
  await gallery.close();
});

const visit = (...given: Parameters<Gallery['visit']>): Promise<Visitor> => gallery.visit(...given);
const visitHistory = (...items: object[]): Promise<Visitor> => gallery.visitHistory({}, ...items);

/** Until then, Enter sends nothing. */
function untilOver(page: Page): Promise<void> {
  return page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached' });
}

test('an empty conversation, with sentences to begin with', async () => {
  const { page, leave } = await visit();
  await page.evaluate(() => {
    const chat = document.querySelector('interlude-chat') as unknown as { suggestions: string[] };
    chat.suggestions = ['List my open issues in Tracker', 'Book a trip to Lisbon', 'What can you do?'];
  });
  await page.getByRole('button', { name: 'Book a trip' }).waitFor();
  await look(page, 'empty');
  await leave();
});

test('a link to connect an account: asked, opened, declined, and taken away', async () => {
  const { page, context, say, leave } = await visit();
  await say('list my open issues');
  const link = page.getByRole('link', { name: 'Connect Tracker' });
  await link.waitFor();
  // Not at work any more: it is the reader's turn.
  await page.getByLabel('Connect tracker waits for you').waitFor();
  await look(page, 'link');
  await lookInForcedColors(page);
  const [popup] = await Promise.all([context.waitForEvent('page'), link.click()]);
  await popup.close();
  await page.getByText('Finish in the other window').waitFor();
  await look(page, 'link-opened');
  await page.getByRole('button', { name: 'Not now' }).click();
  await page.getByText('Tracker: You said “not now”').waitFor();
  await untilOver(page);
  await look(page, 'declined');
  await say('list my closed issues');
  await page.locator('.card').waitFor();
  await page.getByRole('button', { name: 'Stop' }).click();
  await page.getByText('Tracker: No longer needed').waitFor();
  await look(page, 'closed');
  await leave();
});

test('an account that is connected, the answer, and what the tool was told', async () => {
  const { page, say, leave } = await visit({ user: 'alice' });
  await say('list my open issues');
  const link = page.getByRole('link', { name: 'Connect Tracker' });
  await link.waitFor();
  await connectAccount('alice', (await link.getAttribute('href')) ?? '');
  await page.locator('.markdown').getByText('Checkout button').waitFor();
  await look(page, 'accepted');
  await page.locator('.tool summary').last().click();
  await look(page, 'tool-details');
  await leave();
});

test('a form with a field of every kind, and with all of them wrong', async () => {
  const { page, say, leave } = await visit();
  await say('call travel__book_trip {"destination":"Lisbon"}');
  await page.getByRole('textbox', { name: 'Traveller' }).waitFor();
  await look(page, 'form');
  await page.locator('.card').getByRole('button', { name: 'Send', exact: true }).click();
  await page.getByText('Please check 5 fields.').waitFor();
  await look(page, 'form-errors');
  await page.locator('.card .actions').scrollIntoViewIfNeeded();
  await look(page, 'form-end');
  await leave();
});

test('three questions at once', async () => {
  const { page, say, leave } = await visit();
  const trips = ['Oslo', 'Rome', 'Bonn'].map((city) => `call travel__book_trip {"destination":"${city}"}`);
  await say(trips.join('\n'));
  await page.locator('.dock', { hasText: '3 questions wait for you' }).waitFor();
  await look(page, 'three');
  await leave();
});

test('a call to approve: its arguments, and a reason not to', async () => {
  const input = {
    page: 'Travel policy 2019',
    recursive: true,
    notify: ['anna@example.com', 'bo@example.com'],
  };
  const { page, leave } = await visitHistory(
    message('user', said('Clean up the wiki')),
    message(
      'assistant',
      said('I would delete the old travel policy.'),
      question({
        message: 'Assistant wants to delete page in Wiki. Approve this?',
        context: {
          trigger: 'approval',
          agent: 'Assistant',
          path: undefined,
          server: 'wiki',
          serverTitle: 'Wiki',
          host: 'wiki.example',
          toolName: 'delete_page',
          arguments: JSON.stringify(input, null, 2),
        },
      }),
    ),
  );
  await page.getByRole('button', { name: 'Approve' }).waitFor();
  await look(page, 'call-to-approve');
  await lookInForcedColors(page);
  await page.getByRole('button', { name: 'Decline and say why' }).click();
  await page.getByLabel('Why not?').fill('Legal still needs it.');
  await look(page, 'call-to-decline');
  await leave();
});

test('a form without fields, a link with warnings and an address without end, and one that nobody answered', async () => {
  const approval = await visitHistory(message('user', said('Clean up the archive')), {
    ...message('assistant', said('I need your consent for that.'), question({})),
  });
  await approval.page.getByRole('button', { name: 'Confirm' }).waitFor();
  await look(approval.page, 'form-without-fields');
  await approval.leave();

  const url = `http://user@xn--pple-43d.example/${'a-very-long-path/'.repeat(20)}?state=${'x'.repeat(300)}`;
  const context = { warnings: ['punycode', 'userinfo', 'plain_http'] };
  const warned = await visitHistory(
    message('user', said('Open it')),
    message('assistant', question({ mode: 'url', url, message: 'Please pay the deposit.', context })),
  );
  await warned.page.getByText('look-alike letters').waitFor();
  await look(warned.page, 'link-warnings');
  await warned.page.locator('.card .actions').scrollIntoViewIfNeeded();
  await look(warned.page, 'link-warnings-end');
  await warned.leave();

  const expired = await visitHistory(
    message('user', said('Clean up the archive')),
    message('assistant', question({ status: 'expired' }), said('Nobody answered, so nothing was deleted.')),
  );
  await expired.page.getByRole('button', { name: 'Ask again' }).waitFor();
  await look(expired.page, 'expired');
  await expired.leave();
});

test('Markdown of every kind, right to left, and words without end', async () => {
  const markdown = await visitHistory(
    message('user', said('Show me everything')),
    message('assistant', said(everyKind)),
  );
  await markdown.page.getByText('The end.').waitFor();
  await look(markdown.page, 'markdown-end');
  await markdown.page.getByRole('log').evaluate((log) => log.scrollTo(0, 0));
  await look(markdown.page, 'markdown');
  await markdown.leave();

  const words = await visit({ attributes: 'dir="rtl"' });
  await words.say(`هل يمكنك حجز رحلة إلى لشبونة؟ ${'مرحبا'.repeat(60)} ${'long'.repeat(75)}`);
  await words.page.locator('.markdown').getByText('You said').waitFor();
  await untilOver(words.page);
  await words.say('list my open issues');
  await words.page.locator('.card').waitFor();
  await look(words.page, 'right-to-left');
  await words.leave();
});

test('at work, cut off from the service, and after a failure', async () => {
  const { page, say, leave } = await visit({ api: line.url });
  await say('hello');
  await page.getByText('You said: hello').waitFor();
  await untilOver(page);
  line.refuse();
  line.cut();
  await say('are you there');
  await page.getByText('Connection lost. Reconnecting…').waitFor();
  await look(page, 'reconnecting');
  line.accept();
  await page.getByText('You said: are you there').waitFor();
  await leave();

  const working = await visit();
  const held = Promise.withResolvers<void>();
  await working.page.route(/\/run\/api\/chat$/, async (route) => {
    await held.promise;
    await route.fallback();
  });
  await working.say('hello');
  await working.page.getByText('Working…').waitFor();
  await look(working.page, 'working');
  held.resolve();
  await working.page.getByText('You said: hello').waitFor();
  await working.leave();

  const refused = await visit({ attributes: 'agent="nobody"' });
  await refused.say('hello');
  await refused.page.getByRole('alert').waitFor();
  await look(refused.page, 'failure');
  await refused.page.close();
});

test('in a corner of the page: closed with a question waiting, and open', async () => {
  const { page, say, leave } = await visit({ attributes: 'floating open' });
  await say('list my open issues');
  await page.locator('.card').waitFor();
  await look(page, 'floating-open');
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: /one question waits/ }).waitFor();
  await look(page, 'floating-closed');
  await leave();
});

test('a card that appears moves nothing that was on the screen', async () => {
  const { page, leave } = await visit();
  await page.evaluate(() => {
    const shifts: string[] = [];
    const box = ({ x, y, width, height }: DOMRectReadOnly) => [x, y, width, height].map(Math.round).join(' ');
    const where = ({ previousRect, currentRect }: Source) => `${box(previousRect)} → ${box(currentRect)}`;
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries() as (PerformanceEntry & Shift)[])
        if (!entry.hadRecentInput) shifts.push(...entry.sources.map(where));
    }).observe({ type: 'layout-shift' });
    const chat = document.querySelector('interlude-chat') as unknown as { suggestions: string[] };
    chat.suggestions = ['hello', 'list my open issues'];
    Object.assign(globalThis, { shifts });
  });
  const shifts = () => page.evaluate(() => (globalThis as unknown as { shifts: string[] }).shifts);
  // By the page and not by a hand: what moves within half a second of a hand does not count.
  const press = (name: string) =>
    page.getByRole('button', { name, exact: true }).evaluate((button: HTMLElement) => button.click());
  await press('list my open issues');
  await page.locator('.bubble').waitFor();
  const before = (await shifts()).length;
  await page.locator('.card').waitFor();
  await page.locator('.dock').waitFor();
  await twoFrames(page);
  expect((await shifts()).slice(before)).toEqual([]);
  // The observer has eyes: something at the top that grows does count.
  await page.evaluate(() => document.querySelector('h1')?.style.setProperty('padding-block', '3rem'));
  await expect.poll(async () => (await shifts()).length).toBeGreaterThan(before);
  await leave();
});

interface Shift {
  hadRecentInput: boolean;
  sources: Source[];
}

interface Source {
  previousRect: DOMRectReadOnly;
  currentRect: DOMRectReadOnly;
}

/** Until what moved has been noted. */
function twoFrames(page: Page): Promise<unknown> {
  return page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
}

test('whoever uses the keyboard sees where they are', async () => {
  const { page, say, leave } = await visit();
  await say('call travel__book_trip {"destination":"Lisbon"}');
  await page.getByRole('textbox', { name: 'Traveller' }).waitFor();
  const seen = new Set<string>();
  await page.getByRole('log').focus();
  for (let presses = 0; presses < 24; presses++) {
    await page.keyboard.press('Tab');
    const focused = await page.evaluate(() => {
      const element = document.querySelector('interlude-chat')?.shadowRoot?.activeElement;
      if (!element) return null;
      // The composer shows it at its edge.
      const shown =
        element.closest('.composer') && element.matches('textarea') ? element.parentElement : element;
      const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(shown ?? element);
      const isVisible = (outlineStyle !== 'none' && outlineWidth !== '0px') || boxShadow !== 'none';
      return { name: `${element.tagName} ${element.getAttribute('name') ?? element.className}`, isVisible };
    });
    if (!focused) break;
    seen.add(focused.name);
    expect(focused, focused.name).toMatchObject({ isVisible: true });
  }
  expect(seen.size).toBeGreaterThan(10);
  await leave();
});

const everyKind = `# What I found

A paragraph with **strong**, *emphasised*, ~~deleted~~ words, \`code\`, and [a link](https://example.com).

## A list

- first
- second
  1. nested
  2. numbers
- third

> A quotation, which goes on
> for a second line.

\`\`\`ts
export function aVeryLongName(first: string, second: number): Promise<Record<string, unknown>> { return fetchEverythingThereIs(first, second); }
\`\`\`

### A table

| Id | Title | Assignee | Status | Priority | Created | Updated | Labels |
|---|---|---|---|---|---|---|---|
| TRK-1 | Checkout button stays disabled | alice@example.com | open | high | 2026-11-01 | 2026-11-20 | checkout, web, regression |
| TRK-2 | Invoices are sent twice | bob@example.com | open | medium | 2026-11-03 | 2026-11-19 | billing |

---

The end.`;
