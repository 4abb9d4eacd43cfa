/** A server of the old era whose tools push: one whose questions time out, one that listens for progress, one with pages. */
import { McpServer, UrlElicitationRequiredError } from '@modelcontextprotocol/server';
import type { EventStore } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { createWaiting } from '../waiting.ts';
import { text } from './asking-tools.ts';
import { startMcpServer } from './mcp-server.ts';
import type { TestMcpServer } from './mcp-server.ts';

export interface PushingServer extends TestMcpServer {
  /** What happened, in its order. */
  seen: string[];
  /** Resolves when this has been seen. */
  saw(what: string): Promise<void>;
  /** Resolves when a client has opened a standing stream after the latest call. */
  listenedSinceCall(): Promise<void>;
  /** The page is done: notifies every listening client. */
  finishPage(): Promise<void>;
}

interface Options {
  eventStore?: EventStore;
  /** How long it waits for an answer. */
  answerTimeoutMs?: number;
}

const form = {
  mode: 'form' as const,
  message: 'Which colour?',
  requestedSchema: {
    type: 'object' as const,
    properties: { colour: { type: 'string' as const } },
    required: ['colour'],
  },
};
const page = {
  mode: 'url' as const,
  message: 'Sign the waiver',
  url: 'https://pages.example/waiver',
  elicitationId: 'page-1',
};

export async function startPushingServer({
  eventStore,
  answerTimeoutMs = 60_000,
}: Options = {}): Promise<PushingServer> {
  const seen: string[] = [];
  const waiting = createWaiting();
  const finishers = new Set<() => Promise<void>>();
  let isPageDone = false;
  const note = (what: string) => {
    seen.push(what);
    waiting.wake();
  };

  function build(): McpServer {
    const server = new McpServer({ name: 'pushing', version: '1' }, { capabilities: { tools: {} } });
    const none = z.object({});
    server.registerTool('impatient', { inputSchema: none }, async (_, ctx) => {
      try {
        const answer = await ctx.mcpReq.elicitInput(form, { timeout: answerTimeoutMs });
        note(`answered ${answer.action}`);
        return text(`answered ${answer.action}`);
      } catch {
        note('gave up');
        return text('the server gave up', true);
      }
    });
    server.registerTool('listening', { inputSchema: none }, async (_, ctx) => {
      try {
        const options = {
          timeout: answerTimeoutMs,
          resetTimeoutOnProgress: true,
          onprogress: () => note('progress'),
        };
        const answer = await ctx.mcpReq.elicitInput(form, options);
        return text(`answered ${answer.action}`);
      } catch {
        note('gave up');
        return text('the server gave up', true);
      }
    });
    server.registerTool('watched', { inputSchema: none }, async (_, ctx) => {
      ctx.mcpReq.signal.addEventListener('abort', () => note('cancelled'));
      const answer = await ctx.mcpReq.elicitInput(form, { timeout: 600_000 });
      note(`watched ${answer.action}`);
      return text(answer.action);
    });
    server.registerTool('gate', { inputSchema: none }, () => {
      if (isPageDone) {
        note('entered');
        return text('entered');
      }
      finishers.add(server.server.createElicitationCompletionNotifier('page-1'));
      throw new UrlElicitationRequiredError([page]);
    });
    return server;
  }

  const server = await startMcpServer({ era: 'legacy', build, ...(eventStore && { eventStore }) });
  return {
    ...server,
    seen,
    saw: (what) => waiting.until(() => seen.includes(what)).then(() => undefined),
    async listenedSinceCall() {
      const last = (fits: (request: TestMcpServer['requests'][number]) => boolean) =>
        server.requests.findLastIndex(fits);
      const isListened = () =>
        last(({ http }) => http === 'GET') > last(({ method }) => method === 'tools/call');
      while (!isListened()) await server.nextRequest();
    },
    async finishPage() {
      isPageDone = true;
      await Promise.all([...finishers].map((finish) => finish()));
    },
  };
}
