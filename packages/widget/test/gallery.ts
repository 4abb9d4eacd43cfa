/** Conversations to be looked at: with a real service, or with a history that a test tells. */
import type { BrowserContextOptions, Page } from 'playwright-core';
import type { ElicitationRequest } from '@interlude-ai/core/contract/elicitation.ts';
import { startDevelopmentServer } from '../../../test/development-server.ts';
import { launchChromium } from '../../../test/browsers/chromium.ts';
import { setUpWidgetPage } from './widget-page.ts';
import type { WidgetPageSetup, Visitor } from './widget-page.ts';

type Options = Parameters<WidgetPageSetup['visit']>[0];

export interface Gallery {
  setup: WidgetPageSetup;
  visit(options?: Options): Promise<Visitor>;
  /** A history that the service has no way to be brought to within a test; the rest of the service stays as it is. */
  visitHistory(options: HistoryOptions, ...items: object[]): Promise<Visitor>;
  close(): Promise<void>;
}

interface HistoryOptions {
  attributes?: string;
  browser?: BrowserContextOptions;
}

export async function openGallery(): Promise<Gallery> {
  const [temporal, browser] = await Promise.all([
    startDevelopmentServer(),
    launchChromium({ isStrict: true }),
  ]);
  const setup = await setUpWidgetPage({ browser, temporal });

  async function visit(options: Options = {}): Promise<Visitor> {
    const visitor = await setup.visit({ user: 'bob', ...options });
    await fillWindow(visitor.page);
    return visitor;
  }

  return {
    setup,
    visit,
    async visitHistory({ attributes = '', browser: how = {} }, ...items) {
      const context = await browser.newContext({
        locale: 'en',
        viewport: { width: 900, height: 800 },
        // What arrives moves for a moment, and half of it has no contrast yet.
        reducedMotion: 'reduce',
        ...how,
      });
      const headers = { 'access-control-allow-origin': '*' };
      const told = { conversationId: 'told', turn: null, messages: { items, next: null } };
      await context.route(/\/v1\/conversations\/told\?/, (route) => route.fulfill({ headers, json: told }));
      // Nothing more happens in it.
      await context.route(/\/told\/events/, (route) =>
        route.fulfill({ headers, contentType: 'text/event-stream', body: '' }),
      );
      await context.route(/\/told\/stream/, (route) => route.fulfill({ status: 204, headers }));
      return visit({ context, attributes: `conversation="told" ${attributes}` });
    },
    async close() {
      await setup.stop();
      await browser.close();
      await temporal.stop();
    },
  };
}

/** As in a page that is all about the conversation. */
async function fillWindow(page: Page): Promise<void> {
  await page.evaluate(() => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(`
      :root { color-scheme: light dark } body { margin: 0 } h1, h2 { margin: .25rem 1rem; font: 600 1rem system-ui }
      main { display: flex; flex-direction: column; height: 100dvh } interlude-chat { flex: 1; min-height: 0 }`);
    document.adoptedStyleSheets = [sheet];
    const heading = document.createElement('h2');
    heading.textContent = 'Ask us';
    document.querySelector('h1')?.after(heading);
  });
}

export const message = (role: string, ...parts: object[]) => ({ id: crypto.randomUUID(), role, parts });
export const said = (text: string) => ({ type: 'text', text });

/** A question that waits for consent, by default. */
export function question(part: Partial<Omit<ElicitationRequest, 'context'>> & { context?: object }): object {
  const elicitationId = crypto.randomUUID();
  const context = {
    trigger: 'mcp_elicitation',
    agent: 'Researcher',
    path: ['researcher'],
    server: 'archive',
    serverTitle: 'Archive',
    host: 'archive.example',
    toolName: 'delete_records',
    ...part.context,
  };
  const data = {
    type: 'elicitation-request',
    elicitationId,
    mode: 'form',
    message: 'Delete 1,204 records of 2019? This cannot be undone.',
    requestedSchema: { type: 'object', properties: {} },
    status: 'pending',
    expiresAt: new Date(Date.now() + 45_000).toISOString(),
    ...part,
    context,
  };
  return { type: 'data-elicitation-request', id: elicitationId, data };
}
