/** What the chat widget costs the page it is in, in a headless Chromium on the service's own origin. */
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import type { Browser, Page } from 'playwright-core';
import { bundle, bundleFile } from '../src/api/http/bundle.ts';
import { launchChromium } from '../test/browsers/chromium.ts';
import { say, tokenText } from './doubles/model.ts';
import type { Section } from './report.ts';
import type { BenchSetup } from './setup.ts';
import { breath } from './setup.ts';

const tokens = 1_120;
const characters = Array.from({ length: tokens }, (_, index) => tokenText(index).length).reduce(
  (a, b) => a + b,
);

export async function widget(setup: BenchSetup): Promise<Section> {
  const browser = await launchChromium();
  try {
    const loads = Math.max(5, Math.round(setup.samples / 4));
    const ours: number[] = [];
    const empty: number[] = [];
    await load(browser, setup, 'chat');
    for (let round = 0; round < loads; round++) {
      empty.push(await load(browser, setup, 'empty'));
      ours.push(await load(browser, setup, 'chat'));
    }
    const [script, hook] = await Promise.all([
      bundle('widget.js'),
      bundleFile(fileURLToPath(new URL('doubles/use-chat.ts', import.meta.url))),
    ]);
    const card = await cardShifts(browser, setup);
    const tasks = await longTasks(browser, setup);
    return {
      title: 'The widget in a page',
      rows: [
        {
          name: 'script',
          meaning: 'gzip, all of it, against `useChat` and Preact bundled the same way',
          ours: [kib(script.code)],
          floor: [kib(hook.code)],
          unit: 'KiB',
        },
        {
          name: 'usable',
          meaning:
            'from navigation to the frame with a composer, against the same page without the widget; nothing cached',
          ours,
          floor: empty,
          unit: 'ms',
        },
        {
          name: 'card appears',
          meaning: 'layout shift score of all that moved without being touched (0.1 is called good)',
          ours: [card.appeared],
          unit: 'shift',
        },
        { name: 'card is settled', meaning: 'the same', ours: [card.settled], unit: 'shift' },
        {
          name: 'long tasks, sum',
          meaning: `over 50 ms each, while ${characters} characters stream in, 1 ms between tokens; ${tasks.length} of them`,
          ours: [tasks.reduce((sum, one) => sum + one, 0)],
          unit: 'ms',
        },
        { name: 'long tasks, longest', meaning: 'the same', ours: [Math.max(0, ...tasks)], unit: 'ms' },
      ],
    };
  } finally {
    await browser.close();
  }
}

const kib = (code: string) => gzipSync(code, { level: 9 }).length / 1024;

/** Notes when the page can be used, what moves in it, and what keeps it busy. */
const notes = `
globalThis.seen = { shifts: [], tasks: [] };
new PerformanceObserver((list) => {
  for (const one of list.getEntries()) if (!one.hadRecentInput) seen.shifts.push(one.value);
}).observe({ type: 'layout-shift', buffered: true });
new PerformanceObserver((list) => {
  for (const one of list.getEntries()) seen.tasks.push(one.duration);
}).observe({ type: 'longtask', buffered: true });
const look = () => {
  const chat = document.querySelector('interlude-chat');
  if (chat ? chat.shadowRoot?.querySelector('textarea') : document.querySelector('main')) seen.usable = performance.now();
  else requestAnimationFrame(look);
};
requestAnimationFrame(look);`;

type Seen = { seen: { shifts: number[]; tasks: number[]; usable?: number } };
const seen = (page: Page) => page.evaluate(() => (globalThis as unknown as Seen).seen);

async function open(
  browser: Browser,
  { service, newUser }: BenchSetup,
  kind: 'chat' | 'empty',
): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 900, height: 800 } });
  const page = await context.newPage();
  const { authorization = '' } = (await newUser()).headers;
  const chat = `<script type="module" src="/widget.js"></script><interlude-chat></interlude-chat><script type="module">
    const chat = document.querySelector('interlude-chat');
    chat.suggestions = ${JSON.stringify([say.callTool, say.tokens(tokens, 1)])};
    chat.token = ${JSON.stringify(authorization.replace('Bearer ', ''))}</script>`;
  const body = `<!doctype html><meta charset="utf-8"><title>Bench</title><link rel="icon" href="data:,"><style>main { height: 700px }</style><main>${kind === 'chat' ? chat : ''}</main>`;
  await page.route(`${service.baseUrl}/page`, (route) => route.fulfill({ contentType: 'text/html', body }));
  await page.addInitScript(notes);
  await page.goto(`${service.baseUrl}/page`);
  await page.waitForFunction(() => (globalThis as unknown as Seen).seen.usable !== undefined);
  return page;
}

async function load(browser: Browser, setup: BenchSetup, kind: 'chat' | 'empty'): Promise<number> {
  await breath();
  const page = await open(browser, setup, kind);
  const { usable = NaN } = await seen(page);
  await page.context().close();
  return usable;
}

/** Pressed by the page and not by a hand: what moves within half a second of a hand does not count. */
const press = (page: Page, name: string) =>
  page.getByRole('button', { name }).evaluate((button: HTMLElement) => button.click());

async function cardShifts(
  browser: Browser,
  setup: BenchSetup,
): Promise<{ appeared: number; settled: number }> {
  const page = await open(browser, setup, 'chat');
  await press(page, say.callTool);
  const before = await sumAfter(page, '.bubble');
  const appeared = await sumAfter(page, '.card');
  await press(page, 'Not now');
  const settled = await sumAfter(page, '.settled');
  await page.context().close();
  return { appeared: appeared - before, settled: settled - appeared };
}

/** Two frames later, when what moved has been noted. */
async function sumAfter(page: Page, selector: string): Promise<number> {
  await page.locator(selector).waitFor();
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  return (await seen(page)).shifts.reduce((sum, one) => sum + one, 0);
}

async function longTasks(browser: Browser, setup: BenchSetup): Promise<number[]> {
  const page = await open(browser, setup, 'chat');
  const { length } = (await seen(page)).tasks;
  await press(page, say.tokens(tokens, 1));
  setup.dependencies.model.begin();
  await page.getByText(tokenText(tokens - 1).trim(), { exact: false }).waitFor();
  const { tasks } = await seen(page);
  await page.context().close();
  return tasks.slice(length);
}
