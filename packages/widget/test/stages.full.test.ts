/** One conversation, disturbed at each of its stages: in the end it is always the same story, told once. */
import type { Browser, BrowserContext, Frame, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { launchChromium } from '../../../test/browsers/chromium.ts';
import { useDevelopmentServer } from '../../../test/service/use-development-server.ts';
import { createOpenAIServer } from '../../../test/servers/openai-server.ts';
import type { ChatRequest, OpenAIServer, Reply } from '../../../test/servers/openai-server.ts';
import { startTcpProxy } from '../../../test/servers/tcp-proxy.ts';
import type { TcpProxy } from '../../../test/servers/tcp-proxy.ts';
import { setUpWidgetPage } from './widget-page.ts';
import type { WidgetPageSetup } from './widget-page.ts';

const stages = ['sent', 'working', 'asked', 'in the other window', 'answered', 'streaming', 'over'] as const;
type StageName = (typeof stages)[number];
type Mishap = 'reload' | 'cut' | 'half-closed';

/** What the model waits for, one after the other. */
let gates: Record<'think' | 'answer' | 'finish', PromiseWithResolvers<void>>;
const temporal = useDevelopmentServer();
let browser: Browser;
let context: BrowserContext;
let model: OpenAIServer;
let setup: WidgetPageSetup;
let line: TcpProxy;

beforeAll(async () => {
  [browser, model] = await Promise.all([launchChromium({ isStrict: true }), createOpenAIServer({ reply })]);
  const env = { MODEL_URL: model.baseURL };
  setup = await setUpWidgetPage({ browser, temporal, env, agents: 'stages-agents.yaml' });
  line = await startTcpProxy({ to: Number(new URL(setup.service.baseUrl).port) });
  context = await browser.newContext({ locale: 'en', viewport: { width: 900, height: 800 } });
  await learnTools();
});
afterAll(async () => {
  await context.close();
  await line.stop();
  await setup.stop();
  await model.stop();
  await browser.close();
});

beforeEach(closeGates);
afterEach(async () => {
  openGates();
  await forgetAccount();
});

function closeGates(): void {
  const gate = () => Promise.withResolvers<void>();
  gates = { think: gate(), answer: gate(), finish: gate() };
}

function openGates(): void {
  for (const { resolve } of Object.values(gates)) resolve();
}

async function learnTools(): Promise<void> {
  closeGates();
  openGates();
  const { view, say, leave } = await setup.visit({ context });
  const opened = context.waitForEvent('page');
  await say('what can you do?');
  await view.getByRole('link', { name: 'Connect Tracker' }).click();
  const window = await opened;
  await untilConnectPage(window);
  await connectIn(window);
  await view.locator('.markdown').waitFor();
  await window.close();
  await leave();
  await forgetAccount();
}

async function forgetAccount(): Promise<void> {
  const alice = await setup.service.as('alice');
  await alice.request('DELETE', '/run/v1/connections/tracker');
}

async function reply({ messages, tools = [] }: ChatRequest): Promise<Reply> {
  // Until an account is connected, Tracker's tools are unknown.
  if (!tools.some(({ function: { name } }) => name === 'tracker__list_issues'))
    return { kind: 'tool-calls', calls: [{ name: 'connect_tracker', arguments: '{}' }] };
  const { think, answer, finish } = gates;
  if (messages.at(-1)?.role !== 'tool') {
    await think.promise;
    return { kind: 'tool-calls', calls: [{ name: 'tracker__list_issues', arguments: '{"state":"open"}' }] };
  }
  await answer.promise;
  return { kind: 'text', chunks: words(finish.promise) };
}

async function* words(finish: Promise<void>): AsyncGenerator<string> {
  yield* ['There ', 'are '];
  await finish;
  yield* ['some ', 'open ', '**issues**.'];
}

const asked = ['user', 'what is open?'];
const whole = [asked, ['assistant', 'list issues', 'Tracker is connected', 'There are some open issues.']];
/** As long as the question is open, its card is in the story's place. */
const soFar: Record<StageName, string[][]> = {
  sent: [asked],
  working: [asked],
  asked: [asked, ['assistant', 'list issues', 'card']],
  'in the other window': [asked, ['assistant', 'list issues', 'card']],
  answered: [asked, ['assistant', 'list issues', 'Tracker is connected']],
  streaming: [asked, ['assistant', 'list issues', 'Tracker is connected', 'There are']],
  over: whole,
};

/** Everything that was said, in reading order. */
function story(view: Frame): Promise<string[][]> {
  return view.locator('.log').evaluate((log) =>
    [...log.querySelectorAll<HTMLElement>('.message')].flatMap((message) => {
      const parts = [...message.querySelectorAll<HTMLElement>(':scope > *')].map((part) =>
        part.className === 'card' ? 'card' : part.innerText.trim().replace(/^Tracker: list/, 'list'),
      );
      // A message that has only begun is not seen yet.
      return parts.length === 0 ? [] : [[message.className.replace('message ', ''), ...parts]];
    }),
  );
}

test.each(
  (['reload', 'cut', 'half-closed'] as const).flatMap((mishap) =>
    stages.map((disturbed) => ({ mishap, disturbed })),
  ),
)('$mishap when $disturbed', async ({ mishap, disturbed }) => {
  const { page, view, say, comeBack, leave } = await setup.visit({ api: line.url, context });
  const disturb: Record<Mishap, () => Promise<void>> = {
    reload: comeBack,
    async cut() {
      const again = line.next();
      line.cut();
      await again;
    },
    async 'half-closed'() {
      const again = line.next();
      line.halfClose();
      await again;
    },
  };
  const reached = async (name: StageName) => {
    await expect.poll(() => story(view), { message: name }).toEqual(soFar[name]);
    if (name !== disturbed) return;
    await disturb[mishap]();
    await expect.poll(() => story(view), { message: `${name}, again` }).toEqual(soFar[name]);
  };
  const callsBefore = setup.service.tracker.calls.length;

  const thinking = model.next();
  const sent = page.waitForResponse((response) => response.request().method() === 'POST');
  await say('what is open?');
  await sent;
  await reached('sent');
  await thinking;
  await view.getByText('Working…').waitFor();
  await reached('working');
  gates.think.resolve();
  await reached('asked');
  const opened = context.waitForEvent('page');
  await view.getByRole('link', { name: 'Connect Tracker' }).click();
  const window = await opened;
  await untilConnectPage(window);
  await reached('in the other window');
  const answering = model.next();
  await connectIn(window);
  await answering;
  await reached('answered');
  gates.answer.resolve();
  await reached('streaming');
  gates.finish.resolve();
  await reached('over');
  await view.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached' });
  expect(await story(view)).toEqual(whole);
  expect(setup.service.tracker.calls.length - callsBefore).toBe(1);
  await window.close();
  await leave();
});

/** Signed in by the first of these tests. */
async function untilConnectPage(page: Page): Promise<void> {
  const connect = page.getByRole('button', { name: 'Connect Tracker' });
  const signIn = page.getByRole('button', { name: 'Continue as Alice' });
  await connect.or(signIn).waitFor();
  if (await signIn.isVisible()) await signIn.click();
  await connect.waitFor();
}

async function connectIn(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Connect Tracker' }).click();
  const allow = page.getByRole('button', { name: 'Allow' });
  const account = page.getByRole('button', { name: 'Continue as alice' });
  await allow.or(account).first().waitFor();
  if (await account.isVisible()) await account.click();
  await allow.click();
  await page.getByRole('heading', { name: 'Tracker is connected' }).waitFor();
}
