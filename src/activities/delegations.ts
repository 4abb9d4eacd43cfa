/** What becomes of a task when the agent that had it is done: the result of the asking agent's tool call. */
import type { Config } from '../platform/config/config.ts';
import type { AssistantPart } from '../models/stream-step.ts';
import type { Storage } from '../storage/storage.ts';
import type { StoredMessage } from '../storage/schema/turn-tables.ts';
import type { UnfinishedCall } from '../storage/tables/tool-calls.ts';
import { callLeftUnfinished } from '../platform/telemetry/events.ts';
import { traceEnd } from '../platform/telemetry/traces/turn-spans.ts';
import { unfinishedCallResult } from '../turn/call-result.ts';
import type { ToolResult } from '../turn/tool-result.ts';
import type { Delegation, Turn, TurnEnd } from '../turn/turn.ts';
import { finishToolCall, requestedToolCall } from './tool-results.ts';
import type { FinishParts } from './tool-results.ts';

interface Dependencies {
  storage: Pick<Storage, 'messages' | 'toolCalls' | 'turnTraces' | 'now'>;
  logger: FinishParts['logger'];
  agents: Config['agents'];
  /** Notifies the server of a call that nothing waits for any more. Resolves when its rounds are read. */
  abandonCall: (turn: Turn, call: UnfinishedCall) => Promise<void>;
}

interface EndOfDelegation {
  /** The asking agent's. */
  turn: Turn;
  delegation: Delegation;
  end: TurnEnd;
}

export function createDelegationActivities(parts: Dependencies) {
  const { storage } = parts;
  return {
    /** The answer is the last thing that the other agent said. */
    async finishDelegation(input: EndOfDelegation): Promise<void> {
      const { turn, delegation, end } = input;
      // Of an agent that was ended or cancelled from outside.
      if (end.status !== 'completed' && !end.failure) await endLostCalls(parts, input);
      const call = await requestedToolCall(storage, turn, delegation.toolCallId);
      if (call.state === 'finished') return;
      await finishToolCall(parts, turn, call, await resultOf(parts, input));
      traceEnd({ storage }, { ...turn, delegation }, { status: end.status, code: end.failure?.code });
    },
  };
}

/** The turn goes on: the agent's calls, and those of agents it has asked, end here, with their questions. */
async function endLostCalls(
  { storage, logger, abandonCall }: Pick<Dependencies, 'storage' | 'logger' | 'abandonCall'>,
  { turn, delegation: { toolCallId }, end }: EndOfDelegation,
): Promise<void> {
  const unfinished = await storage.toolCalls.unfinished(turn);
  const lost = (agentCall: string): UnfinishedCall[] =>
    unfinished
      .filter(({ delegation }) => delegation?.toolCallId === agentCall)
      .flatMap((call) => [call, ...lost(call.toolCallId)]);
  const resultOf = unfinishedCallResult(turn, end.status);
  const calls = lost(toolCallId);
  const stoppedWith = calls.flatMap(({ state, toolCallId: id }) => (state === 'started' ? [] : [id]));
  for (const call of calls) {
    await abandonCall(turn, call);
    const result = resultOf(call);
    const isOurs = await storage.toolCalls.finish(turn, call.toolCallId, { ...result, stoppedWith });
    if (isOurs) callLeftUnfinished(logger, turn, { ...call, outcome: result.outcome });
  }
}

async function resultOf(
  { storage, agents }: Pick<Dependencies, 'storage' | 'agents'>,
  { turn, delegation, end }: EndOfDelegation,
): Promise<ToolResult> {
  const name = delegation.path.at(-1) ?? '';
  const title = agents.get(name)?.title ?? name;
  if (end.status !== 'completed')
    return {
      kind: 'failed',
      failure: { code: 'no_answer', agent: title, failure: end.failure },
    };
  const text = lastWords(await storage.messages.list({ ...turn, delegation }));
  return text === ''
    ? { kind: 'failed', failure: { code: 'empty_answer', agent: title } }
    : { kind: 'output', output: { content: [{ type: 'text', text }] } };
}

function lastWords(messages: StoredMessage[]): string {
  const last = messages.findLast(({ role }) => role === 'assistant');
  const parts = (last?.content ?? []) as AssistantPart[];
  return parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
}
