/**
 * A run as a stream: the part of a turn from where the client is to the next pause, or to the turn's end. A client whose messages
 * are not those of the thread gets a snapshot first.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AgUiEvent, AgUiRun } from '@interlude-ai/core/contract/ag-ui.ts';
import { emptyTurn, foldTurn, openQuestions } from '../../turn/fold-turn.ts';
import type { FoldedTurn } from '../../turn/fold-turn.ts';
import type { LogEntry } from '../../turn/event.ts';
import { inWords, questionInWords } from '../../turn/for-person.ts';
import type { Language } from '@interlude-ai/core/elicitation/language.ts';
import { sendEventStream, toData } from '../http/event-stream.ts';
import { problemFor } from '../http/problems.ts';
import { closing } from '../http/readers.ts';
import type { SurfaceParts } from '../http/readers.ts';
import { nameTurn } from '../http/reader-headers.ts';
import type { BegunRun } from './begin-run.ts';
import { isFrontendCall } from './frontend-tools.ts';
import { isPaused, toInterrupt } from './interrupts.ts';
import { createTranslator, fromBeginning, idPrefix, questionSettled } from './translate.ts';
import type { AgUiMessage } from './translate.ts';
import { createThread } from './thread.ts';

/** How long other work of the turn may hold back a question, which a client only gets at the end of a run. */
const holdBackMs = 3_000;

const protocolVersion = '1.0';

interface Shown {
  parts: SurfaceParts;
  request: FastifyRequest;
  body: AgUiRun;
  run: BegunRun;
  language: Language | null;
}

export function streamRun(reply: FastifyReply, shown: Shown): FastifyReply {
  const { parts, request, body, run } = shown;
  if (run.turn) nameTurn(reply, run.turn);
  const signal = parts.readers.listen(reply);
  async function* texts(): AsyncGenerator<string> {
    try {
      for await (const event of eventsOf(shown, signal)) yield toData({ ...event, timestamp: Date.now() });
      if (signal.reason === closing) yield toData(unfinished('This process is shutting down'));
    } catch (error) {
      const { code, message } = problemFor(error, request);
      yield toData({ type: 'RUN_ERROR', code, message });
    }
  }
  // `texts` end when the reader leaves; when the service closes, they send an error first.
  const never = new AbortController().signal;
  const lastText = toData(unfinished('Your token has expired'));
  return sendEventStream(reply, { texts: texts(), signal: never, lastText });

  function unfinished(why: string): AgUiEvent {
    const message = `${why}. The turn goes on in thread ${body.threadId}; run the thread again to follow it.`;
    return { type: 'RUN_ERROR', code: 'turn_unfinished', message };
  }
}

async function* eventsOf(shown: Shown, signal: AbortSignal): AsyncGenerator<AgUiEvent> {
  const { parts, request, body, run, language } = shown;
  const { service } = parts;
  const { turn, answers } = run;
  const { threadId, runId, parentRunId } = body;
  const isOld = body.protocolVersion == null;
  yield {
    type: 'RUN_STARTED',
    threadId,
    runId,
    protocolVersion,
    ...(parentRunId != null && { parentRunId }),
    ...(turn && { metadata: { interlude: { turnId: turn.turnId } } }),
  };
  for (const settled of answers.ended) yield questionSettled(settled);
  const thread = createThread(service, request.principal, {
    body,
    current: turn?.turnId,
    isOld,
    language,
    // Clients send the messages back with each run, and more.
    mostBytes: parts.bodyLimit / 2,
  });
  const translator = createTranslator({ isOld });
  const finished = (outcome: object, more: object = {}): AgUiEvent => ({
    type: 'RUN_FINISHED',
    threadId,
    runId,
    outcome,
    ...more,
  });
  // The thread is empty.
  if (!turn) return yield finished({ type: 'success' });

  let folded = emptyTurn;
  const add = (entries: LogEntry[]) => {
    folded = foldTurn(folded, entries);
    return entries.flatMap(({ event, ...entry }) =>
      translator.add({ ...entry, event: inWords(event, language) }),
    );
  };
  /** With the messages of earlier turns in the last snapshot, which makes those before it unnecessary. */
  async function* complete(events: AgUiEvent[]): AsyncGenerator<AgUiEvent> {
    const last = events.findLastIndex(({ type }) => type === 'MESSAGES_SNAPSHOT');
    for (const [index, event] of events.entries())
      if (event.type !== 'MESSAGES_SNAPSHOT') yield event;
      else if (index === last) yield await thread.snapshot(event['messages'] as AgUiMessage[]);
  }
  const soFar = run.before ?? (await service.turnSoFar(turn));
  const earlier = add(soFar?.entries ?? []);
  const prefix = idPrefix(turn.turnId);
  const hasPart = body.messages.some(({ id, role }) => role !== 'user' && id.startsWith(prefix));
  const goesOn = hasPart && !translator.isWriting() && !(await thread.misses(translator.messages()));
  // The whole turn comes again, also to a client that has a part of it: assistant-ui drops the interrupts of a run that brings
  // nothing but a snapshot, and begins a message anew when its text goes on.
  const isAgain = hasPart && !goesOn;
  const answered = isAgain ? new Set() : callsWithResult(body);
  const isNew = ({ type, toolCallId }: AgUiEvent) => type !== 'TOOL_CALL_RESULT' || !answered.has(toolCallId);
  if (goesOn) yield* translator.open();
  else {
    const had = new Set(body.messages.flatMap(({ id, role }) => (role === 'reasoning' ? [id] : [])));
    const { snapshot, events } = fromBeginning(earlier, translator.messages(), had);
    if (isAgain || (await thread.misses([]))) yield await thread.snapshot(snapshot);
    yield* complete(events.filter(isNew));
  }

  let pause = new AbortController();
  let holdBack: NodeJS.Timeout | undefined;
  /**
   * Without those whose answer, this run's or another, is recorded but not yet in the log: it comes, because one transaction writes
   * the row and the entry.
   */
  const ended = new Set([...answers.recorded, ...answers.ended.map(({ interruptId }) => interruptId)]);
  const open = () => openQuestions(folded).filter(({ elicitationId: id }) => !ended.has(id));
  const isAsking = () => open().some(({ elicitationId: id }) => !answers.agreed.has(id));
  const mayEnd = () => {
    if (isAsking()) {
      holdBack ??= setTimeout(() => pause.abort(), holdBackMs);
      return isPaused(folded, open());
    }
    clearTimeout(holdBack);
    holdBack = undefined;
    return false;
  };
  let after = soFar?.position;
  let isOver = mayEnd() || folded.end !== null;
  try {
    while (!isOver && !signal.aborted) {
      for await (const entries of service.followTurn(turn, {
        signal: AbortSignal.any([signal, pause.signal]),
        after,
      })) {
        const events = add(entries).filter(isNew);
        after = entries.at(-1)?.seq;
        // Before a slow reader takes the events: the question that the timer holds back may have been answered.
        isOver = mayEnd();
        yield* complete(events);
        if (isOver) break;
      }
      // The time was up, or the turn has ended. The last entries may have answered what the timer held back.
      isOver ||= folded.end !== null || isAsking();
      pause = new AbortController();
    }
  } finally {
    clearTimeout(holdBack);
  }
  if (signal.aborted) return;
  if (!folded.end) {
    const calls = open().flatMap(({ context }) => (isFrontendCall(context) ? [context.toolCallId] : []));
    const questions = open().filter(({ context }) => !isFrontendCall(context));
    if (questions.length === 0) {
      // Clients of before 1.0 see which calls have no result.
      yield* translator.suspend([]);
      yield finished({ type: 'success', ...(!isOld && { pendingToolCallIds: calls }) });
      return;
    }
    const interrupts = questions.map((question) =>
      toInterrupt(questionInWords(question, language), folded, {
        page: service.questionPage(question.elicitationId),
        isOld,
        errors: answers.errors.get(question.elicitationId),
      }),
    );
    yield* translator.suspend(interrupts);
    yield finished({ type: 'interrupt', interrupts });
    return;
  }
  yield endOf(folded, { isOld, language, finished });
}

/** Those whose results the client has, its own and ours. */
function callsWithResult({ messages }: AgUiRun): Set<string> {
  return new Set(
    messages.flatMap(({ role, toolCallId }) =>
      role === 'tool' && typeof toolCallId === 'string' ? [toolCallId] : [],
    ),
  );
}

interface Ending {
  isOld: boolean;
  language: Language | null;
  finished(outcome: object, more?: object): AgUiEvent;
}

/** The last run of a turn reports the usage of the whole turn, because the runs before it report none. */
function endOf({ end, failure }: FoldedTurn, { isOld, language, finished }: Ending): AgUiEvent {
  const { status = 'failed', usage: used } = end ?? {};
  const usage = used && { usage: [{ ...used, totalTokens: used.inputTokens + used.outputTokens }] };
  switch (status) {
    case 'completed':
      return finished({ type: 'success' }, usage);
    case 'cancelled':
    case 'superseded': {
      // Clients of before 1.0 know only success and interrupts.
      const message = status === 'cancelled' ? 'The turn was cancelled.' : 'A newer message took its place.';
      return isOld
        ? { type: 'RUN_ERROR', code: status, message, ...usage }
        : finished({ type: 'cancelled' }, usage);
    }
    case 'failed': {
      const error = failure && inWords(failure, language);
      const code = failure?.code ?? 'failed';
      const message = error?.type === 'error' ? error.errorText : 'The turn failed. Try again.';
      return { type: 'RUN_ERROR', code, message, ...usage };
    }
    default:
      return status satisfies never;
  }
}
