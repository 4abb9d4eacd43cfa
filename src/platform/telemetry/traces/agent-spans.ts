/** The model calls and tool calls of a phase, as spans of the GenAI conventions. */
import { SpanKind, trace } from '@opentelemetry/api';
import type { AgentConfig, ServerConfig } from '../../config/config.ts';
import type { TurnTraces } from '../../../storage/tables/turn-traces.ts';
import type { Turn, Usage } from '../../../turn/turn.ts';
import { genAi, own, question, toolError } from './names.ts';
import { beginSpan, failSpan, inBackground, spanIdOf } from './tracing.ts';
import { attributesOf, earlierPhase, inPhase } from './turn-spans.ts';
import type { AgentPhase } from './turn-spans.ts';

interface ModelCall {
  agent: Pick<AgentConfig, 'model'>;
  step: number;
  attempt: number;
}

export function traceModelCall<T extends { done: { finish: string; usage: Usage } }>(
  phase: AgentPhase,
  turn: Turn,
  { agent, step, attempt }: ModelCall,
  call: () => Promise<T>,
): Promise<T> {
  const [provider = '', ...rest] = agent.model.split(':');
  const model = rest.length === 0 ? provider : rest.join(':');
  const span = {
    name: `chat ${model}`,
    kind: SpanKind.CLIENT,
    attributes: {
      [genAi.operation]: 'chat',
      [genAi.provider]: provider,
      [genAi.model]: model,
      [own.step]: step,
      [own.attempt]: attempt,
    },
  };
  return inPhase(phase, turn, span, async (running) => {
    const answer = await call();
    const { finish, usage } = answer.done;
    running.setAttributes({
      [genAi.finishReasons]: [finish],
      [genAi.inputTokens]: usage.inputTokens,
      [genAi.outputTokens]: usage.outputTokens,
    });
    return answer;
  });
}

export interface TracedCall {
  toolCallId: string;
  /** The tool's name at its server. */
  tool: string;
  /** Absent for a tool of the agent itself. */
  server?: Pick<ServerConfig, 'name' | 'agent'> | undefined;
  attempt?: number;
}

/** Marks the current call as failed. `type`: a fixed code. */
export function failCurrentCall(type: string): void {
  const span = trace.getActiveSpan();
  if (span) failSpan(span, type);
}

/** One attempt at a call. A remote agent has the operation `invoke_agent`; for the model it is a tool. */
export function traceToolCall<T extends { kind: string }>(
  phase: AgentPhase,
  turn: Turn,
  { toolCallId, tool, server, attempt }: TracedCall,
  call: () => Promise<T>,
): Promise<T> {
  const isAgent = server?.agent !== undefined;
  const operation = isAgent ? 'invoke_agent' : 'execute_tool';
  const span = {
    name: `${operation} ${isAgent ? server.name : tool}`,
    kind: isAgent ? SpanKind.CLIENT : SpanKind.INTERNAL,
    attributes: {
      [genAi.operation]: operation,
      [genAi.tool]: tool,
      [genAi.toolCall]: toolCallId,
      [question.server]: server?.name ?? null,
      [own.attempt]: attempt ?? null,
    },
  };
  return inPhase(phase, turn, span, async (running) => {
    const end = await call();
    running.setAttribute(own.result, end.kind);
    return end;
  });
}

/** An author's activity in a TypeScript tool. `name`: chosen by the author. */
export function traceEffect<T extends { kind: string }>(
  phase: AgentPhase,
  { turn, toolCallId }: { turn: Turn; toolCallId: string },
  name: string,
  run: () => Promise<T>,
): Promise<T> {
  const attributes = { [own.effect]: name, [genAi.toolCall]: toolCallId };
  return inPhase(phase, turn, { name: `effect ${name}`, attributes }, async (span) => {
    const end = await run();
    span.setAttribute(own.result, end.kind);
    if (end.kind !== 'done') failSpan(span, end.kind === 'unknown' ? 'unknown' : toolError);
    return end;
  });
}

/** A TypeScript tool that may ask is one span from its call to its result, written with the result. */
export function traceFinishedTool(
  { storage }: { storage: { turnTraces: TurnTraces } },
  turn: Turn,
  { toolCallId, tool, isFailed }: { toolCallId: string; tool: string; isFailed: boolean },
): void {
  inBackground(async () => {
    const startTime = await storage.turnTraces.requestedAt(turn, toolCallId);
    const parent = startTime === null ? null : await earlierPhase({ storage }, turn, startTime);
    if (!parent || startTime === null) return;
    const span = beginSpan({
      name: `execute_tool ${tool}`,
      parent,
      ids: { spanId: spanIdOf('tool', turn.turnId, toolCallId) },
      startTime,
      attributes: {
        ...attributesOf(turn),
        [genAi.operation]: 'execute_tool',
        [genAi.agent]: turn.agent,
        [genAi.tool]: tool,
        [genAi.toolCall]: toolCallId,
        [own.result]: 'finished',
      },
    });
    if (isFailed) failSpan(span, toolError);
    span.end();
  });
}
