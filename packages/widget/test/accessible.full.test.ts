/** What WCAG 2.2 AA asks for and no checker of pages sees: sizes, room, contrast of edges, and what is read out. */
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { de } from '@interlude-ai/core/elicitation/words/de.ts';
import { en } from '@interlude-ai/core/elicitation/words/en.ts';
import type { Words } from '@interlude-ai/core/elicitation/words/en.ts';
import { message, openGallery, question, said } from './gallery.ts';
import type { Gallery } from './gallery.ts';
import { axeFindings, picture, wcag } from '../../../test/browsers/findings.ts';
import { look, tooWide } from './look.ts';

let gallery: Gallery;

beforeAll(async () => (gallery = await openGallery()));
afterAll(() => gallery.close());

const longTitle = 'Donaudampfschifffahrtsgesellschaft für Güter und Reisende AG';
const address = `https://pay.example/${'a-very-long-path/'.repeat(20)}`;
const longForm = {
  type: 'object',
  properties: Object.fromEntries(
    Array.from({ length: 40 }, (_, index) => [
      `field${index}`,
      [
        { type: 'string', title: `Text ${index}`, description: 'As it is written in the passport' },
        { type: 'integer', title: `Number ${index}` },
        { type: 'string', enum: ['one', 'two', 'three'], title: `Choice ${index}` },
        { type: 'boolean', title: `Consent ${index}` },
        { type: 'string', format: 'date', title: `Day ${index}` },
        { type: 'string', enum: ['a', 'b', 'c', 'd', 'e', 'f'], title: `List ${index}` },
      ][index % 6],
    ]),
  ),
  required: ['field0'],
};

const visitForm = (browser: object = {}, attributes = '') =>
  gallery.visitHistory(
    { browser, attributes },
    message('user', said('Book everything')),
    message(
      'assistant',
      said('One moment.'),
      question({ requestedSchema: longForm, message: 'Please fill this in.' } as never),
    ),
  );

const visitLink = (browser: object = {}, attributes = '') =>
  gallery.visitHistory(
    { browser, attributes },
    message('user', said('Pay')),
    message(
      'assistant',
      question({ status: 'expired' }),
      question({ status: 'decline' }),
      question({ status: 'accept' }),
      question({
        mode: 'url',
        url: address,
        message: 'Please pay the deposit.',
        context: { serverTitle: longTitle, warnings: ['plain_http', 'userinfo'] },
        expiresAt: new Date(Date.now() + 26 * 3_600_000).toISOString(),
      } as never),
    ),
  );

/** What is pressed, wherever it is; what stands in running text may be as high as its line. */
function targets(page: Page): Locator {
  return page.locator('interlude-chat').locator('button, summary, select, textarea, .button, label.tick');
}

test('whatever is pressed is at least 24 pixels wide and high', async () => {
  const { page: form, leave } = await visitForm({ viewport: { width: 360, height: 740 } });
  await form.locator('.card').waitFor();
  const { page: link, leave: leaveLink } = await visitLink({ viewport: { width: 360, height: 740 } });
  await link.locator('.card').waitFor();
  for (const page of [form, link]) {
    const boxes = await Promise.all((await targets(page).all()).map((one) => one.boundingBox()));
    expect(boxes.length).toBeGreaterThan(3);
    for (const box of boxes) {
      expect(box?.width).toBeGreaterThanOrEqual(24);
      expect(box?.height).toBeGreaterThanOrEqual(24);
    }
  }
  await leave();
  await leaveLink();
});

test.each([
  { width: 360, height: 740 },
  // A desk's window at 400 percent.
  { width: 320, height: 256 },
])('what has the focus is never under something else: $width × $height', async (viewport) => {
  const { page, leave } = await visitForm({ viewport });
  await page.getByRole('textbox', { name: 'Text 0' }).focus();
  const seen = new Set<string>();
  for (let presses = 0; presses < 60; presses++) {
    const hidden = await page.evaluate(() => {
      const root = document.querySelector('interlude-chat')?.shadowRoot;
      const element = root?.activeElement;
      if (!root || !element) return null;
      const { left, top, right, bottom } = element.getBoundingClientRect();
      // Its middle and its corners, a pixel inside.
      const points = [
        [(left + right) / 2, (top + bottom) / 2],
        [left + 1, top + 1],
        [right - 1, bottom - 1],
      ];
      const isSeen = points.every(([x = 0, y = 0]) => {
        const there = root.elementFromPoint(x, y);
        return there !== null && (element.contains(there) || there.contains(element));
      });
      return { id: element.id || element.className || element.tagName, isSeen };
    });
    if (hidden === null) break;
    expect(hidden).toEqual({ ...hidden, isSeen: true });
    seen.add(hidden.id);
    await page.keyboard.press('Tab');
  }
  expect(seen.size).toBeGreaterThan(40);
  await leave();
});

const spaced = `* { line-height: 1.5 !important; letter-spacing: .12em !important; word-spacing: .16em !important }
  p { margin-block-end: 2em !important }`;

test.each([
  ['with the spacing a reader has chosen', { width: 360, height: 740 }, spaced, ''],
  ['in a window as wide as a phone is at most enlarged', { width: 320, height: 640 }, '', ''],
  ['with text of twice the size', { width: 640, height: 800 }, '', ':root { font-size: 200% }'],
  ['on a phone, with text of twice the size', { width: 390, height: 844 }, '', ':root { font-size: 200% }'],
])('nothing is cut off, and axe finds nothing, %s', async (name, viewport, inside, outside) => {
  for (const visit of [visitLink, visitForm]) {
    const { page, leave } = await visit({ viewport });
    await page.locator('.card').waitFor();
    await restyle(page, inside, outside);
    await picture(page, `${visit === visitForm ? 'form' : 'link'} ${name}`);
    expect(await tooWide(page)).toEqual([]);
    expect(await cutOff(page)).toEqual([]);
    expect(await axeFindings(page, wcag)).toEqual([]);
    await leave();
  }
});

test('the edge of everything that is filled in stands out from what is around it', async () => {
  for (const theme of ['light', 'dark']) {
    const { page, leave } = await visitForm({}, `theme="${theme}"`);
    await page.locator('.card').waitFor();
    const contrasts = await page.evaluate(edgeContrasts);
    expect(contrasts.length).toBeGreaterThan(20);
    expect(Math.min(...contrasts)).toBeGreaterThanOrEqual(3);
    await leave();
  }
});

test('of what changes by itself while a question waits, nothing is read out', async () => {
  const { page, leave } = await visitForm();
  await page.locator('.card').waitFor();
  const lives = await page.evaluate(
    () =>
      new Promise<string[]>((done) => {
        const seen: string[] = [];
        const root = document.querySelector('interlude-chat')?.shadowRoot as ShadowRoot;
        new MutationObserver((changes) => {
          const live = ({ target }: MutationRecord) =>
            target.parentElement?.closest('[aria-live], [role=log], [role=status], [role=alert]')
              ?.outerHTML ?? '';
          seen.push(...changes.map(live));
          if (seen.length >= 2) done(seen);
        }).observe(root, { subtree: true, childList: true, characterData: true });
      }),
  );
  for (const live of lives) expect(live).toMatch(/^<span[^>]* aria-live="off"[^>]*>[^<]*<\/span>$/);
  await leave();
});

test('a link to open is described by where it leads, and a time without end is told in hours', async () => {
  const { page, leave } = await visitLink();
  await page.locator('.card').waitFor();
  expect(await page.getByRole('timer').innerText()).toBe('26 hours left');
  const session = await page.context().newCDPSession(page);
  const { nodes } = (await session.send('Accessibility.getFullAXTree')) as { nodes: AxNode[] };
  const link = nodes.find(({ role, name }) => role?.value === 'link' && name?.value === 'Open the page');
  expect(link?.description?.value).toBe('pay.example');
  await leave();
});

interface AxNode {
  role?: { value: string };
  name?: { value: string };
  description?: { value: string };
}

test('where one writes is seen with the colours of the reader’s own system', async () => {
  const { page, leave } = await visitForm();
  await page.emulateMedia({ forcedColors: 'active', reducedMotion: 'reduce' });
  const outline = () =>
    page.locator('.composer').evaluate((composer) => getComputedStyle(composer).outlineStyle);
  await page.getByRole('log').focus();
  expect(await outline()).toBe('none');
  await page.getByRole('textbox', { name: 'Your message' }).focus();
  expect(await outline()).toBe('solid');
  await picture(page, 'form-forced-colors');
  await leave();
});

test('the style of the page around it stays outside', async () => {
  const { page, leave } = await visitLink();
  await page.locator('.card').waitFor();
  const styles = () =>
    page.locator('.card .message').evaluate((element) => {
      const style = getComputedStyle(element);
      return [style.textTransform, style.textAlign, style.letterSpacing, style.fontFamily, style.lineHeight];
    });
  const before = await styles();
  await restyle(
    page,
    '',
    `body { font: italic 700 22px/2 Georgia, serif; text-transform: uppercase; text-align: center; letter-spacing: .3em; word-spacing: 1em; white-space: nowrap; cursor: crosshair; --accent: hotpink; --text: yellow; --line: red; --radius: 0 }
     p { margin: 5rem } button { background: red }`,
  );
  await picture(page, 'strange page');
  expect(await styles()).toEqual(before);
  await leave();
});

test('in German and from right to left, everything has room and is at its side', async () => {
  const german = await visitForm({ locale: 'de' }, 'lang="de"');
  await german.page.getByText('Wartet auf Sie').waitFor();
  await look(german.page, 'german-form');
  await german.leave();
  const link = await visitLink({ locale: 'de' }, 'lang="de"');
  await link.page.getByText('noch 26 Stunden').waitFor();
  await look(link.page, 'german-link');
  await link.leave();

  const hebrew = await gallery.visitHistory(
    { attributes: 'dir="rtl"' },
    message('user', said('תזמין לי נסיעה לליסבון')),
    message(
      'assistant',
      said('רגע אחד.'),
      question({ status: 'expired', context: { serverTitle: 'סוכנות' } }),
      question({
        message: 'נסיעה לליסבון: מה להזמין?',
        context: { serverTitle: 'סוכנות הנסיעות' },
        requestedSchema: {
          type: 'object',
          properties: {
            name: { type: 'string', title: 'שם הנוסע', description: 'כפי שמופיע בדרכון' },
            class: { type: 'string', title: 'מחלקה', enum: ['תיירים', 'עסקים'] },
            window: { type: 'boolean', title: 'ליד החלון' },
          },
        },
      } as never),
    ),
  );
  await hebrew.page.locator('.card').waitFor();
  await look(hebrew.page, 'hebrew');
  const sides = await hebrew.page.evaluate(() => {
    const root = document.querySelector('interlude-chat')?.shadowRoot;
    return ['.dock [dir]', '.card .message', '.card label', '.card .title'].map(
      (name) => getComputedStyle(root?.querySelector(name) as Element).textAlign,
    );
  });
  expect(sides).toEqual(['right', 'right', 'right', 'right']);
  await hebrew.leave();
});

test('the other language has words of its own for everything', () => {
  const spoken = (words: Words) =>
    Object.entries({ ...words, ...words.warnings }).flatMap(([name, say]) =>
      typeof say === 'object' ? [] : [[name, typeof say === 'string' ? say : aloud(say)]],
    );
  const english = Object.fromEntries(spoken(en)) as Record<string, string>;
  const same = spoken(de).filter(([name = '', text]) => text === english[name]);
  expect(same.map(([name]) => name)).toEqual(['agent', 'optional']);
  expect(Object.keys(english).length).toBeGreaterThan(60);
});

/** Some count, some name; both ways of counting, and a long time. */
function aloud(say: (...given: never[]) => string): string {
  return [1, 2, 120].map((count) => say(...([count, count] as never[]))).join(' ');
}

test('a long conversation with an answer of many kinds', async () => {
  const rounds = Array.from({ length: 60 }, (_, index) => [
    message('user', said(`Question ${index}: what about it?`)),
    message('assistant', said(`Answer ${index}. ${'It goes on and on. '.repeat(index % 7)}`)),
  ]).flat();
  const { page, leave } = await gallery.visitHistory(
    {},
    ...rounds,
    message('user', said('And the table?')),
    message(
      'assistant',
      said(
        'Here:\n\n| Id | Title | Created |\n|---|---|---|\n| TRK-1 | Checkout button stays disabled after editing the address of an order | 2026-11-01 |\n\n```ts\nconst answer = 42;\n```\n\nThat is all.',
      ),
    ),
  );
  await page.getByText('That is all.').waitFor();
  await page.getByRole('log').evaluate((log) => log.scrollTo(0, log.scrollHeight));
  await look(page, 'long');
  await leave();
});

async function restyle(page: Page, inside: string, outside: string): Promise<void> {
  await page.evaluate(
    ([within = '', around = '']) => {
      const sheetOf = (text: string) => {
        const sheet = new CSSStyleSheet();
        sheet.replaceSync(text);
        return sheet;
      };
      document.adoptedStyleSheets.push(sheetOf(around));
      document.querySelector('interlude-chat')?.shadowRoot?.adoptedStyleSheets.push(sheetOf(within));
    },
    [inside, outside],
  );
}

/** What is larger than its box, where the rest cannot be scrolled to; whoever waits is named in the question as well. */
function cutOff(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const all = document.querySelector('interlude-chat')?.shadowRoot?.querySelectorAll('.chat *') ?? [];
    return [...all].flatMap((element) => {
      const { overflowX, overflowY } = getComputedStyle(element);
      const isWider = overflowX !== 'auto' && element.scrollWidth > element.clientWidth + 1;
      const isHigher = overflowY !== 'auto' && element.scrollHeight > element.clientHeight + 1;
      const isBox = element.clientWidth > 0 && !element.matches('svg, svg *, select, .dock *, .in-view');
      return isBox && (isWider || isHigher) ? [`${element.tagName} ${element.className}`] : [];
    });
  });
}

/** Of the border of each field, against the field and against what is around it, whichever is less. */
function edgeContrasts(): number[] {
  const root = document.querySelector('interlude-chat')?.shadowRoot;
  const context = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  if (!root || !context) throw new Error('there is nothing to look at');
  const luminance = (color: string) => {
    context.fillStyle = color;
    context.fillRect(0, 0, 1, 1);
    const [red = 0, green = 0, blue = 0] = [...context.getImageData(0, 0, 1, 1).data].map((byte) => {
      const share = byte / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const contrast = (one: string, other: string) => {
    const [low = 0, high = 0] = [luminance(one), luminance(other)].toSorted((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  };
  const card = getComputedStyle(root.querySelector('.card') as Element).backgroundColor;
  const fields = root.querySelectorAll(
    '.field input:not([type=checkbox], [type=radio]), .field select, .composer',
  );
  return [...fields].map((field) => {
    const { borderTopColor, backgroundColor } = getComputedStyle(field);
    return Math.min(contrast(borderTopColor, card), contrast(borderTopColor, backgroundColor));
  });
}
