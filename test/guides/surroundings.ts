/** What a guide takes for granted around its reader: a provider of models, a server with accounts, a workspace of Slack. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { expect } from 'vitest';
import { WebSocketServer } from 'ws';
import { startTracker } from '../../demo/tracker/tracker.ts';
import { launchChromium } from '../browsers/chromium.ts';
import { freePort } from '../free-port.ts';
import { addChat } from '../servers/slack/chat.ts';
import { startSlackServer } from '../servers/slack/slack-server.ts';
import { connectAccount } from '../service/connect-account.ts';
import { testFolder } from '../test-folder.ts';
import { startModelDouble } from './model-double.ts';

export interface Surroundings {
  env?: Record<string, string>;
  /** What takes the place of an address or a key in the guide. */
  instead?: Record<string, string>;
  /** A person opens a link that the terminal shows. */
  opens?: (url: string) => Promise<unknown>;
  /** What must be true in the end, beside what the guide shows. */
  check?: () => unknown;
}

type Start = (stack: AsyncDisposableStack) => Promise<Surroundings>;

async function withProviders(stack: AsyncDisposableStack): Promise<Surroundings> {
  const model = await startModelDouble();
  stack.defer(() => model.stop());
  return {
    env: { OPENAI_BASE_URL: `${model.origin}/v1`, ANTHROPIC_BASE_URL: `${model.origin}/v1` },
    instead: { '127.0.0.1:8000': new URL(model.origin).host },
    check: () =>
      expect(new Set(model.asked.map((one) => one.join(' with ')))).toEqual(
        new Set([
          '/v1/responses with sk-your-key',
          '/v1/messages with sk-ant-your-key',
          '/v1/chat/completions with your-gateway-key',
        ]),
      ),
  };
}

async function withTracker(stack: AsyncDisposableStack): Promise<Surroundings> {
  const tracker = await startTracker({ port: 0, dataDir: testFolder() });
  stack.defer(() => tracker.stop());
  return {
    instead: { 'https://mcp.tracker.example/mcp': tracker.url },
    opens: (url) => connectAccount('alice', url),
    check: () => expect(tracker.calls.map(({ tool }) => tool)).toEqual(['list_issues']),
  };
}

/** In Socket Mode: once the service has connected, ally writes to the app. */
async function withSlack(stack: AsyncDisposableStack): Promise<Surroundings> {
  const slack = await startSlackServer();
  stack.defer(() => slack[Symbol.asyncDispose]());
  const workspace = slack.addWorkspace('T1', 'Acme');
  workspace.addUser('U1', { name: 'ally' });
  addChat(slack);
  const sockets = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  stack.defer(() => sockets.close());
  await once(sockets, 'listening');
  const { port } = sockets.address() as AddressInfo;
  slack.methods.set('apps.connections.open', () => ({ url: `ws://127.0.0.1:${port}/` }));
  const message = { type: 'message', channel: 'DU1', channel_type: 'im', user: 'U1', text: 'Hello' };
  const payload = { type: 'event_callback', team_id: 'T1', event_id: 'Ev1' };
  sockets.once('connection', (socket) => {
    socket.send(JSON.stringify({ type: 'hello' }));
    const event = { ...message, ts: slack.nextTs() };
    const envelope = { type: 'events_api', envelope_id: 'e1', payload: { ...payload, event } };
    socket.send(JSON.stringify(envelope));
  });
  return {
    env: { SLACK_API_URL: slack.env.SLACK_API_URL },
    instead: { 'xoxb-your-token': workspace.botToken },
    check: () => slack.until(({ args }) => /\/slack\/link\b/.test(JSON.stringify(args))),
  };
}

/** Both pages in a browser: their user asks, and sees the question; on the second, also answers it. */
async function withPage(stack: AsyncDisposableStack): Promise<Surroundings> {
  const browser = await launchChromium();
  stack.defer(() => browser.close());
  const port = String(await freePort());
  const seen: string[] = [];
  return {
    instead: { '8090': port },
    async opens(url) {
      const page = await browser.newPage();
      await page.goto(url);
      if (new URL(url).port === port) {
        await page.locator('textarea').fill('Book a table for four.');
        await page.keyboard.press('Enter');
        await page.locator('.card').waitFor();
        seen.push('widget');
      } else {
        await page.getByRole('button', { name: 'Ask' }).click();
        const opened = page.waitForEvent('popup');
        await page.getByRole('link', { name: 'A table for 4: when?' }).click();
        const question = await opened;
        await question.getByText('Continue as Alice').click();
        await question.getByLabel('Time').fill('19:30');
        await question.getByRole('button', { name: 'Send' }).click();
        await page.getByText('number T4-1930').waitFor();
        seen.push('useChat');
      }
    },
    check: () => expect(seen).toEqual(['widget', 'useChat']),
  };
}

export const surroundings: Record<string, Start> = {
  'real-model': withProviders,
  accounts: withTracker,
  page: withPage,
  slack: withSlack,
};
