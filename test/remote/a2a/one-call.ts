/** One call of a remote agent, without a service around it. */
import type { ServerConfig } from '../../../src/platform/config/config.ts';
import type { RemoteTask } from '@interlude-ai/core/mcp/input-required.ts';
import { openRemoteServers } from '../../../src/remote/open-remote-servers.ts';
import type { CallOutcome, Continuation, ToolCall } from '../../../src/remote/remote-servers.ts';
import { serverConfig } from '../../servers/mcp-server.ts';
import { task } from '../../servers/raw-agent.ts';
import type { Answer, Asked, RawAgent } from '../../servers/raw-agent.ts';

const nobody = { kind: 'credential', headers: {}, version: 0 } as const;
const both = { form: true, url: true };

function serverOf({ card }: Pick<RawAgent, 'card'>, more: Partial<ServerConfig> = {}): ServerConfig {
  return serverConfig(card, {
    name: 'flights',
    title: 'Flights',
    credentialScope: 'none',
    timeout: 10_000,
    maxRounds: 3,
    agent: { card, description: '' },
    ...more,
  });
}

export async function call(
  agent: RawAgent,
  more: Partial<ToolCall> = {},
  config: Partial<ServerConfig> = {},
): Promise<{ outcome: CallOutcome; kept: RemoteTask[] }> {
  const agents = openRemoteServers();
  const kept: RemoteTask[] = [];
  const outcome = await agents.callTool(serverOf(agent, config), nobody, {
    name: 'task',
    arguments: { task: 'find a flight' },
    callId: 'turn/call',
    capabilities: both,
    keepTask: async (begun) => kept.push(begun) > 0,
    signal: new AbortController().signal,
    ...more,
  });
  await agents.close();
  return { outcome, kept };
}

/** An answer to the question that the agent asked in the words. */
export async function answerTo(
  agent: RawAgent,
  answer: object = { action: 'accept', content: { answer: 'Lisbon' } },
) {
  const { outcome } = await call(agent);
  if (outcome.kind !== 'asks') throw new Error(`it did not ask: ${JSON.stringify(outcome)}`);
  const { resume, questions } = outcome.pause;
  const continuation = { resume, answers: [{ key: questions[0]?.key ?? '', ...answer }] } as Continuation;
  return { continuation, question: questions[0] };
}

/** Asks once; a message with the task's id ends it, if `takes` says so. */
export const askingOnce = (
  text: string,
  state = 'INPUT_REQUIRED',
  takes: (asked: Asked) => Answer | null = () => null,
) => {
  let answered = false;
  return (asked: Asked): Answer => {
    const { method, params } = asked;
    if (method === 'CancelTask') return { result: task('CANCELED') };
    const isAnswer = method === 'SendMessage' && Boolean((params['message'] as { taskId?: string }).taskId);
    const instead = isAnswer ? takes(asked) : null;
    if (isAnswer) answered = true;
    if (instead !== null) return instead;
    const now = answered ? task('COMPLETED', { text: 'Booked.' }) : task(state, { text });
    return { result: method === 'SendMessage' ? { task: now } : now };
  };
};
