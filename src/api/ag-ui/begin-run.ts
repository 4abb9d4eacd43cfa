/** What a posted run means: a message that starts a turn, answers to a turn's questions, or a look at where the thread is. */
import type { AgUiRun } from '@interlude-ai/core/contract/ag-ui.ts';
import { cannotAsk } from '@interlude-ai/core/elicitation/elicitation.ts';
import type { OwnTurn } from '../../service/own-turn.ts';
import { invalidInput } from '../../service/service-error.ts';
import type { Service } from '../../service/service.ts';
import type { LogEntry } from '../../turn/event.ts';
import { invalidRequest, pointingTo } from '../http/problems.ts';
import { endsWithUser, isUser, lastUserMessage } from './run-input.ts';
import { noAnswers, planAnswers, recordAnswers } from './resume.ts';
import type { Answers, RunCaller } from './resume.ts';

export interface SoFar {
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
  agent: string,
  caller: RunCaller,
  body: AgUiRun,
): Promise<BegunRun> {
  const { principal } = caller;
  const { threadId, runId, messages, resume } = body;
  const isAnswering = (resume ?? []).length > 0;
  if (isAnswering || !endsWithUser(body)) {
    const live = await service.currentTurn(principal, threadId);
    const plan = isAnswering ? await planAnswers(service, caller, body, live?.turnId ?? null) : [];
    const turn = live ?? (await newestTurn(service, caller, { conversation: threadId, agent }));
    const before = turn && (await service.turnSoFar(turn));
    if (before && before.agent !== agent)
      throw pointed(
        invalidInput(['agent'], `this thread is with ${before.agent}; start another for ${agent}`),
      );
    const isNew = endsWithUser(body) && messages.findLast(isUser)?.id !== before?.clientMessageId;
    if (!isNew)
      return { turn, answers: await recordAnswers(service, caller, body, plan), ...(before && { before }) };
    if (!plan.every(({ isCancelled }) => isCancelled)) {
      const detail = 'this run has answers, too; send the message in another run, or cancel all interrupts';
      throw invalidRequest([{ pointer: `/messages/${messages.findLastIndex(isUser)}`, detail }]);
    }
  }
  // A turn that only waits for people makes room, in the transaction that prepares this one; it closes the questions itself.
  const turn = await service
    .startTurn(principal, {
      conversation: threadId,
      messages: [lastUserMessage(body)],
      agent,
      capabilities: principal.kind === 'user' ? { url: true, form: true } : cannotAsk,
      onBusy: 'refuse',
      repetition: { kind: 'named', key: `ag-ui/${threadId}/${runId}` },
    })
    .catch(pointed);
  return { turn, answers: noAnswers };
}

const pointed = pointingTo({ agent: '/threadId' });

/** For a client that reads a thread whose last turn is over. */
async function newestTurn(
  service: Service,
  { principal }: RunCaller,
  filter: { conversation: string; agent: string },
): Promise<OwnTurn | null> {
  const { turns } = await service.listTurns(principal, filter, { after: null, limit: 1 });
  return turns[0] ?? null;
}
