/** The widget in a customer's page: another origin than the service, with a strict content security policy. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContext, Frame, Page } from 'playwright-core';
import { expect } from 'vitest';
import { startTravelDesk } from '../../../demo/travel/travel.ts';
import type { TravelDesk } from '../../../demo/travel/travel.ts';
import { axeFindings, complaintsOf, wcag } from '../../../test/browsers/findings.ts';
import { freePort } from '../../../test/free-port.ts';
import { serve } from '../../../test/servers/serve.ts';
import { startService } from '../../../test/service/service.ts';
import type { Service, ServiceOptions } from '../../../test/service/service.ts';

/** Bob declines through the API, beside his page. */
export async function declineElsewhere({ service }: WidgetPageSetup, conversationId: string): Promise<void> {
  const bob = await service.as('bob');
  const { body } = await bob.request(
    'GET',
    `/run/v1/conversations/${conversationId}/elicitations?status=pending`,
  );
  const [question] = (body as { items: { elicitationId: string }[] }).items;
  const elicitationId = question?.elicitationId ?? '';
  const answer = { conversationId, elicitationId, action: 'decline' };
  const { status } = await bob.request('POST', '/run/api/elicitation-responses', answer);
  expect(status).toBeLessThan(300);
}

const fixture = (name: string) => fileURLToPath(new URL(`../../../test/fixtures/${name}`, import.meta.url));

/** Messages of the page stay on their way until `release`. `sent` resolves with the first. */
export async function holdMessages(page: Page): Promise<{ sent: Promise<void>; release: () => void }> {
  const sent = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  await page.route('**/run/api/chat', async (route) => {
    sent.resolve();
    await released.promise;
    await route.continue();
  });
  return { sent: sent.promise, release: released.resolve };
}

export interface WidgetPageSetup {
  service: Service;
  travel: TravelDesk;
  visit(options?: VisitOptions): Promise<Visitor>;
  stop(): Promise<void>;
}

interface VisitOptions {
  user?: 'alice' | 'bob';
  /** Of the element. */
  attributes?: string;
  /** To come back as the same browser. */
  context?: BrowserContext;
  locale?: string;
  /** Where the page finds the service, if not where it is. */
  api?: string;
  /** In a frame of another site's page, where what it stores is kept apart. */
  isFramed?: boolean;
}

export interface Visitor {
  page: Page;
  /** Where the widget is: the page itself, or the frame in it. */
  view: Frame;
  context: BrowserContext;
  say(text: string): Promise<void>;
  conversation(): Promise<string>;
  /** Loads the page anew, with the same conversation in it. */
  comeBack(): Promise<void>;
  /** Fails when the page has reported an error other than the expected ones, or an accessibility problem. */
  leave(expected?: RegExp): Promise<void>;
}

interface Setting {
  browser: Browser;
  temporal: ServiceOptions['temporal'];
  env?: Record<string, string>;
  /** The agents file, of the fixtures. */
  agents?: string;
  around?: ServiceOptions['around'];
}

export async function setUpWidgetPage({
  browser,
  temporal,
  env = {},
  agents = 'widget-agents.yaml',
  around,
}: Setting): Promise<WidgetPageSetup> {
  const users = new Map<string, string>();
  const { origin, port, stop } = await serve(({ response, url }) => {
    if (url.pathname === '/host.js')
      return void response.setHeader('content-type', 'text/javascript').end(hostScript);
    if (url.pathname === '/token') return void response.end(users.get(url.searchParams.get('user') ?? ''));
    const api = url.searchParams.get('api') ?? '';
    response.setHeader('content-type', 'text/html; charset=utf-8');
    if (url.pathname === '/frame') return void response.end(framePage(`${origin}/${url.search}`));
    response.setHeader('content-security-policy', policy(api));
    return void response.end(hostPage(api, url.searchParams));
  });
  const folder = await mkdtemp(path.join(tmpdir(), 'interlude-widget-'));
  const travel = await startTravelDesk({ port: await freePort(), dataDir: folder });
  const service = await startService({
    temporal,
    env: { INTERLUDE_CONFIG: fixture(agents), TRAVEL_URL: travel.url, CORS_ORIGINS: origin, ...env },
    ...(around && { around }),
  });
  for (const user of ['alice', 'bob']) users.set(user, await service.token(user));

  async function visit({
    user = 'alice',
    attributes = '',
    context,
    locale = 'en',
    api = service.baseUrl,
    isFramed = false,
  }: VisitOptions = {}): Promise<Visitor> {
    const own = context ?? (await browser.newContext({ locale, viewport: { width: 900, height: 800 } }));
    const page = await own.newPage();
    const complaints = complaintsOf(page);
    const start = isFramed ? `http://localhost:${port}/frame` : `${origin}/`;
    const open = (more: string) =>
      page.goto(
        `${start}?${new URLSearchParams({ user, api, attributes: `${attributes} ${more}` }).toString()}`,
      );
    await open('');
    const view = isFramed ? await innerFrame(page) : page.mainFrame();
    await view.locator('textarea').waitFor({ state: 'attached' });
    return {
      page,
      view,
      context: own,
      async say(text) {
        await view.locator('textarea').fill(text);
        // While the agent is at work, nothing is sent.
        await view.locator(sendButton).waitFor();
        // In Firefox, what is typed by a test does not arrive in a frame of another site.
        if (isFramed) await view.locator(sendButton).click();
        else await page.keyboard.press('Enter');
      },
      conversation: () => conversationIn(view),
      async comeBack() {
        const conversation = await conversationIn(view);
        await open(`conversation="${conversation}"`);
        await page.locator('textarea').waitFor();
      },
      async leave(expected) {
        const found = page.isClosed() ? [] : await axeFindings(view, wcag);
        await (context ? page.close() : own.close());
        const unexpected = complaints.filter((text) => !isExpected(text) && expected?.test(text) !== true);
        if (unexpected.length + found.length > 0) throw new Error([...unexpected, ...found].join('\n'));
      },
    };
  }

  return {
    service,
    travel,
    visit,
    async stop() {
      await service.stop();
      await travel.stop();
      await stop();
      await rm(folder, { recursive: true });
    },
  };
}

function conversationIn(page: Frame): Promise<string> {
  return page.evaluate(
    () => (document.querySelector('interlude-chat') as unknown as { conversation: string }).conversation,
  );
}

/** Once it can be pressed. */
const sendButton = '.composer button:not([type]):enabled';

/** The AI SDK's schema library asks once whether it may make code, and goes on without. */
function isExpected(complaint: string): boolean {
  // What the browser itself says of a line that a test has cut.
  if (/net::ERR_(?:CONNECTION|INTERNET|INCOMPLETE|EMPTY|NETWORK|SOCKET)/.test(complaint)) return true;
  if (/CORS request did not succeed/.test(complaint)) return true;
  return ["'unsafe-eval'", "'TrustedScript' assignment", 'to an injection sink'].some((part) =>
    complaint.includes(part),
  );
}

function policy(api: string): string {
  return [
    "default-src 'none'",
    `script-src 'self' ${api}`,
    'img-src data:',
    `connect-src 'self' ${api}`,
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
  ].join('; ');
}

function framePage(source: string): string {
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>Somebody else's page</title><link rel="icon" href="data:,">
    <iframe title="Help" width="800" height="700" src="${source.replaceAll('&', '&amp;').replaceAll('"', '&quot;')}"></iframe></html>`;
}

async function innerFrame(page: Page): Promise<Frame> {
  const frame = await (await page.locator('iframe').elementHandle())?.contentFrame();
  if (!frame) throw new Error('the page has no frame');
  return frame;
}

function hostPage(api: string, given: URLSearchParams): string {
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>Somebody's page</title>
    <meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,">
    <script type="module" src="${api}/widget.js"></script><script type="module" src="/host.js"></script>
    <main><h1>Somebody's page</h1><interlude-chat api="${api}" ${given.get('attributes') ?? ''}></interlude-chat></main></html>`;
}

const hostScript = `
const chat = document.querySelector('interlude-chat');
globalThis.heard = [];
for (const type of ['elicitation', 'turn-started', 'turn-ended'])
  chat.addEventListener(type, ({ detail }) => globalThis.heard.push({ type, ...detail }));
const user = new URLSearchParams(location.search).get('user');
chat.token = async () => (await fetch('/token?user=' + user)).text();
`;
