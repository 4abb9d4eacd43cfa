/** The service and one server that plays what a test puts on; both live as long as the test file. */
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll } from 'vitest';
import { startDevelopmentServer } from '../development-server.ts';
import type { DevelopmentServer } from '../development-server.ts';
import { startPlayingServer } from '../servers/playing-server.ts';
import type { Move, PlayingOptions, PlayingServer } from '../servers/playing-server.ts';
import { callOf, nthQuestion, questionsIn, respond, startAsking } from '../service/asking.ts';
import type { AskedForm, Response } from '../service/asking.ts';
import type { ChatStream, ElicitationData } from '../service/chat-stream.ts';
import type { Service, ServiceOptions } from '../service/service.ts';
import type { Caller, ChatOptions, Reply } from '../service/user.ts';

/** One server `asking` with at most five rounds; an agent `assistant` that has it, and `lead`, who hands on to that. */
export const roundsAgents = fileURLToPath(new URL('../fixtures/rounds-agents.yaml', import.meta.url));

export interface AskingService {
  temporal: DevelopmentServer;
  server: PlayingServer;
  service: Service;
  alice: Caller;
  /** Alice has the tool `ask` called, and its server does as it is told. */
  begin(
    moves: Move[],
    options?: ChatOptions & { input?: object; text?: string; by?: Caller },
  ): Promise<AskedTurn>;
}

export interface AskedTurn {
  conversation: string;
  stream: ChatStream;
  /** The nth question (from 0), as it opened. */
  question(n: number): Promise<AskedForm>;
  answer(n: number, response: Response): Promise<Reply>;
  /** Several questions of one round come in any order. */
  answerTo(message: string, response: Response): Promise<Reply>;
  /** How each question stands. */
  statuses(): string[];
  /** What the agent said in the end, or what its tool was told went wrong. */
  end(): Promise<{ text: string; error: string | undefined; questions: ElicitationData[] }>;
}

export interface AskingServiceOptions extends PlayingOptions {
  env?: Record<string, string>;
  around?: ServiceOptions['around'];
  logger?: ServiceOptions['logger'];
}

export function useAskingService({
  env = {},
  around,
  logger,
  ...playing
}: AskingServiceOptions = {}): AskingService {
  const stack = new AsyncDisposableStack();
  const setup = { begin } as AskingService;
  beforeAll(async () => {
    setup.temporal = await startDevelopmentServer();
    stack.defer(() => setup.temporal.stop());
    setup.server = await startPlayingServer(playing);
    stack.defer(() => setup.server.stop());
    const { temporal, server } = setup;
    setup.service = await startAsking({
      temporal,
      url: server.url,
      env: { INTERLUDE_CONFIG: roundsAgents, ...env },
      ...(around && { around }),
      ...(logger && { logger }),
    });
    stack.defer(() => setup.service.stop());
    setup.alice = await setup.service.as('alice');
  }, 60_000);
  afterAll(() => stack.disposeAsync());
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
