/**
 * What a posted run means: a message that starts a turn, answers to a turn's questions and results of its front-end tools, or a
 * look at where the thread is.
 */
import type { AgUiRun } from '@interlude-ai/core/contract/ag-ui.ts';
import { cannotAsk } from '@interlude-ai/core/elicitation/elicitation.ts';
import type { AgentConfig } from '../../platform/config/config.ts';
import type { OwnTurn } from '../../service/own-turn.ts';
import { invalidInput } from '../../service/service-error.ts';
import type { Service } from '../../service/service.ts';
import type { LogEntry } from '../../turn/event.ts';
import { invalidRequest, pointingTo, ProblemError } from '../http/problems.ts';
import { toFrontendToolsPart } from '../../turn/message-parts.ts';
import { readFrontendTools, readResults } from './frontend-tools.ts';
import type { GivenResult } from './frontend-tools.ts';
import { noAnswers, planAnswers, recordAnswers, runKey } from './resume.ts';
import type { Answers, RunCaller } from './resume.ts';
import { endsWithUser, isUser, lastUserMessage } from './run-input.ts';

interface SoFar {
  entries: LogEntry[];
  position: number;
}

export interface BegunRun {
  /** Null: the thread has no turn that this run could follow. */
  turn: OwnTurn | null;
  answers: Answers;
  /** What the turn's log had before the answers. Undefined: read it when the run begins. */
  before?: SoFar;
}

export async function beginRun(
  service: Service,
  agent: AgentConfig,
  caller: RunCaller,
  body: AgUiRun,
): Promise<BegunRun> {
  const { principal } = caller;
  const { threadId, messages, resume } = body;
  const tools = readFrontendTools(body, agent);
  const results = readResults(body);
  const isAnswering = (resume ?? []).length > 0 || results.length > 0;
  if (isAnswering || !endsWithUser(body)) {
    const live = await service.currentTurn(principal, threadId);
    if (live && results.length > 0) await untilAsked(service, live, results);
    const plan = isAnswering
      ? await planAnswers(service, caller, body, { results, liveTurn: live?.turnId ?? null })
      : [];
    const turn = live ?? (await newestTurn(service, caller, threadId));
    const before = turn && (await service.turnSoFar(turn));
    if (before && before.agent !== agent.name)
      throw pointed(
        invalidInput(['agent'], `this thread is with ${before.agent}; start another for ${agent.name}`),
      );
    const isNew = endsWithUser(body) && messages.findLast(isUser)?.id !== before?.clientMessageId;
    if (!isNew)
      return { turn, answers: await recordAnswers(service, caller, body, plan), ...(before && { before }) };
    if (!plan.every(({ mayBeLate }) => mayBeLate)) {
      const detail = 'this run has answers, too; send the message in another run, or cancel all interrupts';
      throw invalidRequest([{ pointer: `/messages/${messages.findLastIndex(isUser)}`, detail }]);
    }
  }
  if (tools.length > 0 && principal.kind !== 'user')
    throw invalidRequest([
      { pointer: '/tools', detail: 'a service has no front end; send the token of a user' },
    ]);
  const message = lastUserMessage(body);
  if (tools.length > 0) message.content.push(toFrontendToolsPart(tools));
  // A turn that only waits for people makes room, in the transaction that prepares this one; it closes the questions itself.
  const turn = await service
    .startTurn(principal, {
      conversation: threadId,
      messages: [message],
      agent: agent.name,
      capabilities: principal.kind === 'user' ? { url: true, form: true } : cannotAsk,
      onBusy: 'refuse',
      repetition: { kind: 'named', key: runKey(body) },
    })
    .catch(pointed);
  return { turn, answers: noAnswers };
}

const pointed = pointingTo({ agent: '/threadId' });

/** How long a run waits for the turn to come to a call whose result it brings. */
const earlyMs = 2_000;

/** A client sees a call before the turn waits for its result. One that does not wait for the end of the run is early. */
async function untilAsked(service: Service, turn: OwnTurn, results: GivenResult[]): Promise<void> {
  const early = new Map(results.map(({ toolCallId, at }) => [toolCallId, at]));
  const begun = new Set<string>();
  const follow = (entries: LogEntry[]) => {
    for (const { event } of entries) {
      if (event.type === 'tool-input-available') begun.add(event.toolCallId);
      else if (event.type === 'elicitation-request') early.delete(event.context.toolCallId ?? '');
      else if (event.type === 'reset-step') begun.clear();
      else if ('toolCallId' in event) early.delete(event.toolCallId);
    }
    return [...early.keys()].some((toolCallId) => begun.has(toolCallId));
  };
  const soFar = await service.turnSoFar(turn);
  if (!soFar || !follow(soFar.entries)) return;
  const signal = AbortSignal.timeout(earlyMs);
  for await (const entries of service.followTurn(turn, { signal, after: soFar.position }))
    if (!follow(entries)) return;
  if (!signal.aborted) return;
  const [at] = early.values();
  throw new ProblemError(
    'turn_in_progress',
    `${at}/toolCallId: the turn does not wait for this result yet. Send the run again.`,
  );
}

/** For a client that reads a thread whose last turn is over. */
async function newestTurn(
  service: Service,
  { principal }: RunCaller,
  conversation: string,
): Promise<OwnTurn | null> {
  const { turns } = await service.listTurns(principal, { conversation }, { after: null, limit: 1 });
  return turns[0] ?? null;
}
