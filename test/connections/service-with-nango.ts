/**
 * The whole service with a Nango: API, worker, pages and database as they are; Nango's double (or a real server), a
 * provider behind it, and an MCP server that takes that provider's tokens and no others.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Browser } from 'playwright-core';
import { expect } from 'vitest';
import { turnWorkflowId } from '../../src/workflows/messages.ts';
import { openBrowser } from '../browsers/plain-browser.ts';
import { openNangoUnderTest } from '../servers/nango/nango-under-test.ts';
import type { NangoUnderTest } from '../servers/nango/nango-under-test.ts';
import { openProtectedMcp } from '../servers/nango/protected-mcp.ts';
import type { ProtectedMcp } from '../servers/nango/protected-mcp.ts';
import type { NangoDoubleOptions } from '../servers/nango/nango-state.ts';
import type { ChatStream, ElicitationData } from '../service/chat-stream.ts';
import { signIn } from '../service/connect-account.ts';
import { startService } from '../service/service.ts';
import type { ServiceOptions } from '../service/service.ts';
import { comeToThePage } from './nango-visitor.ts';

const agentsFile = fileURLToPath(new URL('../fixtures/nango-agents.yaml', import.meta.url));

export const accountOfAlice = { tenant: 'demo', server: 'tracker', user: 'alice' };

export type User = 'alice' | 'bob';

/** A turn that waits for an account. */
export interface Waiting {
  conversation: string;
  stream: ChatStream;
  question: ElicitationData;
}

export type ServiceWithNango = Awaited<ReturnType<typeof startServiceWithNango>>;

export interface NangoServiceOptions {
  temporal: ServiceOptions['temporal'];
  nango?: NangoDoubleOptions;
  env?: Record<string, string>;
  /** Whether Nango knows where to send its webhooks; with `false` nothing but looking tells of a connection. */
  hasWebhooks?: boolean;
}

export async function startServiceWithNango(options: NangoServiceOptions) {
  const { temporal, env = {}, hasWebhooks = true } = options;
  await using stack = new AsyncDisposableStack();
  const nango = await openNangoUnderTest(options.nango);
  stack.defer(() => nango.stop());
  const mcp = await openProtectedMcp(nango.provider);
  stack.defer(() => mcp.stop());
  const service = await startService({
    temporal,
    env: { ...envOf(nango, mcp), ...env },
  });
  stack.defer(() => service.stop());
  if (hasWebhooks) nango.sendWebhooksTo(`${service.baseUrl}/webhooks/nango`);
  const open = stack.move();

  /** Says something that takes an account, with any outcome. */
  async function create(title: string, user: User = 'alice', conversation = randomUUID()) {
    const caller = await service.as(user);
    return caller.chat(`create an issue called ${title}`, { conversation });
  }

  /** The same, and waits for the question. Creating is what must not happen twice. */
  async function ask(title: string, user?: User): Promise<Waiting> {
    const conversation = randomUUID();
    const stream = await create(title, user, conversation);
    return { conversation, stream, question: await stream.question('pending') };
  }

  /** Connects without any script, from the question to Nango's last page. */
  async function connect(
    { url }: Pick<ElicitationData, 'url'>,
    person: User = 'alice',
    user: User = 'alice',
  ) {
    const browser = openBrowser();
    const page = await browser.press(await signIn(browser, user, url), 'Connect Tracker');
    return browser.press(page, 'Allow', { person });
  }

  return {
    nango,
    mcp,
    service,
    ask,
    say: create,
    /** Where nothing should be asked. Ends when the turn does. */
    async create(title: string, user?: User) {
      const stream = await create(title, user);
      await stream.finished();
      return stream;
    },
    /** Opens the page of a question in a browser of their own and signs in. */
    async visit(browser: Browser, question: Pick<ElicitationData, 'url'>, user: User = 'alice') {
      const visitor = await comeToThePage(browser, question.url, user);
      open.defer(() => visitor.leave());
      return visitor;
    },
    connect,
    /** A user with a connected account and one issue. */
    async isConnected(person?: User) {
      const waiting = await ask('Begin');
      await connect(waiting.question, person);
      await waiting.stream.finished();
      mcp.calls.length = 0;
    },
    /** Ends well: the account was taken, the tool ran once, with the token of this person. */
    async expectDone({ stream }: Pick<Waiting, 'stream'>, title: string, person: User = 'alice') {
      await stream.question('accept');
      await stream.finished();
      expect(stream.text()).toContain('Created.');
      expect(mcp.calls.filter((call) => call.title === title)).toMatchObject([
        { tool: 'create_issue', person },
      ]);
    },
    /** How many events the history of the live turn has. */
    async historyLength(conversation: string) {
      const turn = await service.storage.turns.live({ tenant: 'demo', conversation });
      if (!turn) throw new Error('The turn has ended.');
      const { events } = await temporal.client.workflow.getHandle(turnWorkflowId(turn)).fetchHistory();
      return events?.length ?? 0;
    },
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

export function envOf(nango: NangoUnderTest, mcp: ProtectedMcp): Record<string, string> {
  return {
    INTERLUDE_CONFIG: agentsFile,
    NANGO_HOST: nango.host,
    NANGO_API_KEY: nango.apiKey,
    NANGO_WEBHOOK_SIGNING_KEY: nango.webhookSigningKey,
    NANGO_INTEGRATION: nango.integration,
    MCP_URL: mcp.url,
  };
}

/** Looks until it holds; what is awaited has no event of its own. */
export async function until(holds: () => boolean | Promise<boolean>, timeoutMs = 30_000): Promise<void> {
  for (const deadline = Date.now() + timeoutMs; ; await delay(25)) {
    if (await holds()) return;
    if (Date.now() > deadline) throw new Error('it did not come to that in time');
  }
}
