/** The service, and one MCP server that plays the moves a test gives it; both live as long as the test file. */
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { startScriptedMcpServer } from '../servers/scripted-mcp-server.ts';
import type {
  ScriptedReply,
  ScriptedMcpServerOptions,
  ScriptedMcpServer,
} from '../servers/scripted-mcp-server.ts';
import { askingEnv, callOf, nthQuestion, questionsIn, respond } from '../service/asking.ts';
import type { AskedForm, Response } from '../service/asking.ts';
import type { ChatStream, ElicitationData } from '../service/chat-stream.ts';
import type { ServiceOptions } from '../service/service.ts';
import { useService } from '../service/use-service.ts';
import type { UsedService } from '../service/use-service.ts';
import type { Caller, ChatOptions, Reply } from '../service/user.ts';

/** One server `asking` with at most five rounds; an agent `assistant` that has it, and `lead`, which delegates to that one. */
export const roundsAgents = fileURLToPath(new URL('../fixtures/rounds-agents.yaml', import.meta.url));

export interface AskingService extends UsedService {
  server: ScriptedMcpServer;
  /** Starts a turn of Alice's that calls the tool `ask`; the server plays `moves`. */
  begin(
    moves: ScriptedReply[],
    options?: ChatOptions & { input?: object; text?: string; by?: Caller },
  ): Promise<AskedTurn>;
}

export interface AskedTurn {
  conversation: string;
  stream: ChatStream;
  /** The nth question (from 0), as it opened. */
  question(n: number): Promise<AskedForm>;
  answer(n: number, response: Response): Promise<Reply>;
  /** By its message, because questions of one round open in any order. */
  answerTo(message: string, response: Response): Promise<Reply>;
  /** The status of each question. */
  statuses(): string[];
  /** Waits for the end of the turn: the agent's text, and the error of the tool if there was one. */
  end(): Promise<{ text: string; error: string | undefined; questions: ElicitationData[] }>;
}

export interface AskingServiceOptions extends ScriptedMcpServerOptions {
  env?: Record<string, string>;
  around?: ServiceOptions['around'];
  logger?: ServiceOptions['logger'];
  isOutboxHeld?: () => boolean;
}

export function useAskingService({
  env = {},
  around,
  logger,
  isOutboxHeld,
  ...playing
}: AskingServiceOptions = {}): AskingService {
  const setup = { begin } as AskingService;
  useService({
    ...(around && { around }),
    ...(logger && { logger }),
    ...(isOutboxHeld && { isOutboxHeld }),
    async needs(stack) {
      setup.server = await startScriptedMcpServer(playing);
      stack.defer(() => setup.server.stop());
      return { env: { ...askingEnv(setup.server.url), INTERLUDE_CONFIG: roundsAgents, ...env } };
    },
    into: setup,
  });
  return setup;

  async function begin(...[moves, options = {}]: Parameters<AskingService['begin']>): Promise<AskedTurn> {
    const { input = {}, text = callOf(['ask', input]), by = setup.alice, ...chat } = options;
    setup.server.play(...moves);
    return asTurn(by, chat.conversation ?? randomUUID(), (conversation) =>
      by.chat(text, { ...chat, conversation }),
    );
  }
}

export async function asTurn(
  caller: Caller,
  conversation: string,
  chat: (conversation: string) => Promise<ChatStream>,
): Promise<AskedTurn> {
  const stream = await chat(conversation);
  const question = (n: number) => nthQuestion(stream, n);
  return {
    conversation,
    stream,
    question,
    answer: async (n, response) => respond(caller, conversation, await question(n), response),
    async answerTo(message, response) {
      const found = () =>
        questionsIn(stream).find((one) => one.message === message && one.status === 'pending');
      await stream.until(() => found() !== undefined);
      return respond(caller, conversation, found() as ElicitationData, response);
    },
    statuses: () => questionsIn(stream).map(({ status }) => status),
    async end() {
      const chunks = await stream.finished();
      const error = chunks.findLast(({ type }) => type === 'tool-output-error')?.['errorText'];
      return { text: stream.text(), error: error as string | undefined, questions: questionsIn(stream) };
    },
  };
}

export const accept = (content?: object) => ({ action: 'accept', ...(content && { content }) });
export const city = (name = 'Lisbon') => accept({ city: name });
