/** The service with a hostile server, and one call of one of its tools from beginning to end. */
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { questionsIn, respond } from './asking.ts';
import type { AskedForm } from './asking.ts';
import type { Chunk } from './chat-stream.ts';
import { startHostileServer } from '../servers/hostile-server.ts';
import type { HostileServer, HostileServerOptions } from '../servers/hostile-server.ts';
import { useService } from './use-service.ts';
import type { UsedService } from './use-service.ts';
import type { Caller } from './user.ts';

const agentsFile = fileURLToPath(new URL('../fixtures/hostile-agents.yaml', import.meta.url));

export interface HostileService extends UsedService {
  server: HostileServer;
}

/** It goes by two names: `hostile`, and `hasty` where we wait for it no longer than 1.5 s. Five rounds are too many. */
export function useHostileService(options: HostileServerOptions): HostileService {
  const server = {} as HostileServer;
  const used = useService({
    async needs(stack) {
      const started = await startHostileServer(options);
      stack.defer(() => started.stop());
      Object.assign(server, started);
      return { env: { INTERLUDE_CONFIG: agentsFile, HOSTILE_URL: started.config.url } };
    },
  });
  return { ...used, server };
}

export interface HostileCall {
  /** The tool's error, which the model and the readers get. */
  error: string;
  /** The questions, in order. */
  asked: AskedForm[];
  chunks: Chunk[];
  conversation: string;
  turnId: string;
  tookMs: number;
}

interface Options {
  server?: 'hostile' | 'hasty';
  supports?: string;
  answer?: (question: AskedForm) => { action: string; content?: object };
}

/** Calls the tool, and answers every question until the turn is over. */
export async function callTool(caller: Caller, tool: string, options: Options = {}): Promise<HostileCall> {
  const { server = 'hostile', supports, answer = agree } = options;
  const conversation = randomUUID();
  const startedAt = performance.now();
  const chat = { conversation, ...(supports !== undefined && { supports }) };
  const stream = await caller.chat(`call ${server}__${tool} {}`, chat);
  const asked: AskedForm[] = [];
  const next = () =>
    questionsIn(stream).find((one) => !asked.some((old) => old.elicitationId === one.elicitationId));
  for (;;) {
    const isNew = await stream.until(() => next() !== undefined).catch(() => undefined);
    const question = next() as AskedForm | undefined;
    if (!isNew || !question) break;
    asked.push(question);
    await respond(caller, conversation, question, answer(question));
  }
  const chunks = await stream.finished();
  const error = chunks.find(({ type }) => type === 'tool-output-error')?.['errorText'];
  return {
    error: typeof error === 'string' ? error : '',
    asked,
    chunks,
    conversation,
    turnId: stream.turnId,
    tookMs: performance.now() - startedAt,
  };
}

function agree({ mode }: AskedForm): { action: string; content?: object } {
  return mode === 'url' ? { action: 'accept' } : { action: 'accept', content: { sure: true } };
}
