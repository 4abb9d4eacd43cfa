/**
 * `@interlude-ai/service/testing`: tests of agents, in any runner. The turns run as in production; the test speaks for the
 * people, and for the model if it wants.
 */
import { randomUUID } from 'node:crypto';
import { isNativeError } from 'node:util/types';
import { createClient } from '@interlude-ai/client/client.ts';
import type { ElicitationReceipt } from '@interlude-ai/core/contract/elicitation.ts';
import { readDuration } from '@interlude-ai/core/read-duration.ts';
import type { Duration } from '@interlude-ai/core/read-duration.ts';
import { TurnModel } from './model.ts';
import type { Model } from './model.ts';
import { serviceFor } from './service.ts';
import type { ServiceOptions, TestService } from './service.ts';
import { Turn } from './turn.ts';
import type { Question } from './turn.ts';

export { asksAgent, callsTool, recorded, says, script } from './model.ts';
export type { Model, OneModel, Received, Recording, Script, Step } from './model.ts';
export type { Call, Question, QuestionMatch, Turn, TurnEnd } from './turn.ts';

export interface AgentsOptions extends ServiceOptions {
  /** How long each wait may take (`10s`). A wait that fails prints the transcript of its turn. */
  timeout?: Duration;
}

export interface SendOptions {
  /** Not needed when the agents file has a model that needs no key. */
  model?: Model;
  /** To go on in the conversation of an earlier turn: its `conversation`. */
  conversation?: string;
  /** Which questions the person's client shows; all unless given. */
  shows?: { form: boolean; url: boolean };
}

export interface Person {
  /** Starts a turn. Resolves when the service has taken the message. */
  send(agent: string, text: string, options?: SendOptions): Promise<Turn>;
  /** Answers the question of another person, which the service refuses. */
  answer(question: Question, content: Record<string, unknown>): Promise<ElicitationReceipt>;
  /** Gives the person an account at a server: an access token, or a key where the server takes keys. */
  connect(server: string, token: string): Promise<void>;
}

export interface Agents {
  as(user: string): Person;
  /** Kills the service, as a crash would, and starts it again. Turns go on where they were. */
  restart(): Promise<void>;
  /** What happened in all turns, for people. */
  transcript(): Promise<string>;
  /** Follows their turns no longer. Otherwise a turn that waits would keep the runner alive. `withAgents` calls it. */
  leave(): void;
}

/**
 * The agents of a file, with users, accounts and conversations of their own. The service behind them is started once in a
 * process of the runner.
 */
export async function testAgents({ timeout = '10s', ...options }: AgentsOptions): Promise<Agents> {
  const service = await serviceFor(options);
  const turns: Turn[] = [];
  const tenant = `test-${randomUUID()}`;
  return {
    as: (user) => personOf({ service, tenant, user, turns, timeoutMs: readDuration(timeout) }),
    restart: () => service.restart(),
    transcript: async () => (await Promise.all(turns.map((turn) => turn.transcript()))).join('\n\n'),
    leave() {
      for (const turn of turns) turn.leave();
    },
  };
}

interface PersonParts {
  service: TestService;
  tenant: string;
  user: string;
  turns: Turn[];
  timeoutMs: number;
}

function personOf({ service, tenant, user, turns, timeoutMs }: PersonParts): Person {
  const clientFor = (capabilities: { form: boolean; url: boolean }) =>
    createClient({
      baseUrl: service.baseUrl,
      token: () => service.tokenFor(tenant, user),
      capabilities,
    });
  const all = { form: true, url: true };
  return {
    async send(agent, text, { model: given, conversation = randomUUID(), shows = all } = {}) {
      const client = clientFor(shows);
      const model = new TurnModel(agent, given);
      const parts = { service, client, model, tenant, person: user, agent, text, timeoutMs };
      const turn = await Turn.begin(parts, conversation);
      turns.push(turn);
      return turn;
    },
    answer: ({ id: elicitationId, conversation: conversationId }, content) =>
      clientFor(all).answer({ conversationId, elicitationId, action: 'accept', content }),
    connect: (server, token) => service.ask({ do: 'connect', account: { tenant, user, server, token } }),
  };
}

/**
 * The body of a test, for every runner: `test('…', withAgents({ file }, async (agents) => { … }))`. If it fails, the error
 * has the transcript of its turns.
 */
export function withAgents(
  options: AgentsOptions,
  body: (agents: Agents) => Promise<void>,
): () => Promise<void> {
  return async () => {
    const agents = await testAgents(options);
    try {
      await body(agents);
    } catch (error) {
      if (isNativeError(error)) await addTranscript(error, agents);
      throw error;
    } finally {
      agents.leave();
    }
  };
}

async function addTranscript(error: Error, agents: Agents): Promise<void> {
  const transcript = await agents.transcript().catch(() => '');
  const [firstLine = ''] = transcript.split('\n', 1);
  if (transcript === '' || error.message.includes(firstLine)) return;
  const { message, stack = '' } = error;
  const longer = `${message}\n\n${transcript}\n`;
  error.message = longer;
  // Jest prints no message that node:assert has generated.
  if ('generatedMessage' in error) error.generatedMessage = false;
  // Some runners print the stack, which begins with the message.
  error.stack = stack.replace(message, () => longer);
}
