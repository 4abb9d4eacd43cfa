/**
 * The spans of a turn. The API writes a short one when it accepts the turn: the root of the trace, which exists while the
 * turn waits. Below it is one span for each phase of an agent's work (phases.ts), and below that what the agent does. All
 * processes derive the same ids for phases. The process that ends a phase writes its span.
 */
import type { Link, Span, SpanContext } from '@opentelemetry/api';
import { INVALID_SPAN_CONTEXT, trace as api } from '@opentelemetry/api';
import type { TurnTrace, TurnTraces } from '../../../storage/tables/turn-traces.ts';
import type { Turn, TurnEndStatus, TurnRef } from '../../../turn/turn.ts';
import { genAi, own, pauses, question } from './names.ts';
import { latestPhase } from './phases.ts';
import type { Phase } from './phases.ts';
import { currentRequest } from './requests.ts';
import {
  beginSpan,
  failSpan,
  fromTraceparent,
  inBackground,
  inSpan,
  isTracing,
  linkTo,
  spanIdOf,
  toTraceparent,
  traceIdOf,
} from './tracing.ts';
import type { SpanAttributes, NewSpan } from './tracing.ts';

export interface Traced {
  storage: { turnTraces: TurnTraces };
}

/** The root of a turn's trace. It begins before the turn is stored, and ends as soon as it is accepted. */
interface TurnSpan {
  /** To be stored with the turn; absent if it is not traced. */
  traceParent?: string;
  end(): void;
  fail(type: string): void;
}

const noSpan: TurnSpan = { end: () => undefined, fail: () => undefined };

interface TurnRequest {
  /** A `traceparent` in the body of the request, beside that of the HTTP headers. */
  caller?: unknown;
  /** Whether the turn begins its conversation. */
  isFirst: boolean;
}

export async function beginTurn(
  { storage }: Traced,
  turn: Turn,
  { caller, isFirst }: TurnRequest,
): Promise<TurnSpan> {
  if (!isTracing()) return noSpan;
  const request = currentRequest();
  const named = fromTraceparent(caller);
  const parent = request?.isTrusted === true ? (named ?? request.span.spanContext()) : null;
  const before = isFirst ? null : await storage.turnTraces.latest(turn).catch(() => null);
  const span = beginSpan({
    name: `turn ${turn.agent}`,
    parent,
    ids: { spanId: spanIdOf('turn', turn.turnId), traceId: traceIdOf(turn.turnId) },
    attributes: { ...attributesOf(turn), [genAi.agent]: turn.agent },
    links: [
      ...linkTo(fromTraceparent(before), 'previous turn'),
      ...linkTo(request?.span.spanContext(), 'request'),
      ...(parent ? [] : [...linkTo(request?.caller, 'caller'), ...linkTo(named, 'caller')]),
    ],
  });
  return {
    traceParent: toTraceparent(span.spanContext()),
    end: () => span.end(),
    fail(type) {
      failSpan(span, type);
      span.end();
    },
  };
}

/** The parent of an activity's spans. Never rejects; null when the turn is not traced. */
export type AgentPhase = Promise<SpanContext | null>;

/** What an activity has read, by turn. While it works, only its own questions change the phase of its agent. */
const known = new WeakMap<TurnRef, Promise<TurnTrace | null>>();

/** The current phase of the turn's agent, or of its delegate. */
export async function currentPhase({ storage }: Traced, turn: TurnRef): AgentPhase {
  const reading = known.get(turn) ?? readTrace({ storage }, turn);
  known.set(turn, reading);
  const trace = await reading;
  return trace && phaseContext(trace, turn.delegation?.toolCallId ?? null);
}

/** To be called after an activity has asked or settled questions. */
export function phaseChanged(turn: TurnRef): void {
  known.delete(turn);
}

/** The phase at that time. */
export async function earlierPhase({ storage }: Traced, turn: TurnRef, at: number): AgentPhase {
  const trace = await readTrace({ storage }, turn);
  const questions = trace?.questions.flatMap((one) => {
    if (one.askedAt > at) return [];
    return (one.settledAt ?? Infinity) > at ? { ...one, settledAt: null } : one;
  });
  return trace && phaseContext({ ...trace, questions: questions ?? [] }, turn.delegation?.toolCallId ?? null);
}

export async function inPhase<T>(
  phase: AgentPhase,
  turn: Turn,
  span: Omit<NewSpan, 'parent'>,
  work: (span: Span) => Promise<T>,
): Promise<T> {
  const parent = await phase;
  if (!parent) return work(api.wrapSpanContext(INVALID_SPAN_CONTEXT));
  const attributes = { ...attributesOf(turn), [genAi.agent]: turn.agent, ...span.attributes };
  return inSpan({ ...span, parent, attributes }, work);
}

/**
 * To be called after a call has asked `questions`, which may end a phase of its agent, and of those that wait for it. `isNew`:
 * no call had asked it before. The call that begins a pause writes the phase before it; where the pause began with a question
 * of another agent's call, which this call shares, that is the first call below an agent that waits for it.
 */
export function tracePause(
  { storage }: Traced,
  turn: TurnRef,
  questions: { id: string; isNew: boolean }[],
): void {
  phaseChanged(turn);
  inBackground(async () => {
    const trace = await readTrace({ storage }, turn);
    if (!trace) return;
    for (
      let agent = turn.delegation?.toolCallId ?? null;
      ;
      agent = (agent === null ? null : trace.delegates.get(agent)?.delegatedBy) ?? null
    ) {
      const phase = latestPhase(trace, agent);
      const { pause } = phase;
      const began = questions.find(({ id }) => id === pause?.first.id);
      if (pause && began && (began.isNew || pause.first.waiting === 1))
        writePhase(trace, agent, phase, pause.startedAt);
      if (agent === null) return;
    }
  });
}

interface PhaseEnd {
  status: TurnEndStatus;
  code?: string | undefined;
}

/**
 * To be called after the turn has ended, or the work of the delegate in it. `unfinished`: calls that ended with the turn,
 * among which are those whose delegates did.
 */
export function traceEnd(
  { storage }: Traced,
  turn: TurnRef,
  { status, code }: PhaseEnd,
  unfinished: string[] = [],
): void {
  inBackground(async () => {
    // The activity of the last step has asked nothing since it read the trace.
    const reading = unfinished.length > 0 ? undefined : known.get(turn);
    const trace = await (reading ?? readTrace({ storage }, turn, unfinished));
    if (!trace) return;
    const { delegation } = turn;
    const own = delegation?.toolCallId ?? null;
    const endedAt = (delegation ? null : trace.endedAt) ?? trace.now();
    for (const agent of [...unfinished.filter((id) => trace.delegates.has(id)), own]) {
      const phase = latestPhase(trace, agent);
      // The phase before an open pause has been written.
      if (phase.pause) continue;
      if (agent === own) writePhase(trace, agent, phase, endedAt, { status, code });
      // A delegate whose pause ended with the turn has not worked since.
      else if (phase.startedAt < endedAt) writePhase(trace, agent, phase, endedAt, { status: 'cancelled' });
    }
  });
}

async function readTrace(
  { storage }: Traced,
  turn: TurnRef,
  delegates?: string[],
): Promise<TurnTrace | null> {
  return isTracing() ? storage.turnTraces.read(turn, delegates).catch(() => null) : null;
}

function phaseContext(trace: TurnTrace, agent: string | null): SpanContext | null {
  const root = fromTraceparent(trace.traceParent);
  return root && { ...root, spanId: phaseId(trace, agent, latestPhase(trace, agent)) };
}

function phaseId({ turnId }: TurnTrace, agent: string | null, { key }: Phase): string {
  return spanIdOf('phase', turnId, agent ?? '', key);
}

function writePhase(
  trace: TurnTrace,
  agent: string | null,
  phase: Phase,
  endedAt: number,
  end?: PhaseEnd,
): void {
  const root = fromTraceparent(trace.traceParent);
  const delegate = agent === null ? undefined : trace.delegates.get(agent);
  const parent = delegate ? phaseContext(trace, delegate.delegatedBy) : root;
  if (!root || !parent) return;
  const name = delegate?.agent ?? trace.agent;
  const span = beginSpan({
    name: `invoke_agent ${name}`,
    parent,
    ids: { spanId: phaseId(trace, agent, phase) },
    // A pause that ended with the turn leaves a phase without duration, which shows how it ended.
    startTime: Math.min(phase.startedAt, endedAt),
    attributes: {
      ...attributesOf(trace),
      [genAi.operation]: 'invoke_agent',
      [genAi.agent]: name,
      [genAi.toolCall]: agent,
      [own.status]: end?.status ?? 'waiting',
    },
    links: phase.resumedFrom.flatMap((id) => linkToWait(root, id)),
  });
  const { turnId } = trace;
  for (const id of phase.resumedFrom)
    span.addEvent(
      pauses.resumed,
      { [pauses.execution]: turnId, [pauses.resumedFromType]: 'pause', [pauses.resumedFrom]: id },
      phase.startedAt,
    );
  for (const id of phase.pause?.questions ?? [])
    span.addEvent(
      pauses.paused,
      { [pauses.execution]: turnId, [pauses.pause]: id, [pauses.reason]: 'human_input' },
      endedAt,
    );
  if (end?.status === 'failed') failSpan(span, end.code ?? '_OTHER');
  span.end(endedAt);
}

function linkToWait(root: SpanContext, elicitationId: string): Link[] {
  return linkTo({ ...root, spanId: spanIdOf('wait', elicitationId) }, 'wait');
}

export function attributesOf({ turnId, tenant, conversation, user }: TurnOwnerAndIds): SpanAttributes {
  return {
    [own.turn]: turnId,
    [own.tenant]: tenant,
    [genAi.conversation]: conversation,
    [question.user]: user,
  };
}

type TurnOwnerAndIds = Pick<Turn, 'turnId' | 'tenant' | 'conversation' | 'user'>;
