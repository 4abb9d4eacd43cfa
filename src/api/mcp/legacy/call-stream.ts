/**
 * The stream of one tool call up to 2025-11-25: progress, our questions as requests, and the result. It is made from the
 * turn's log each time, so that any process tells it again to a client that comes back; what is still open is asked again.
 */
import type { OwnTurn } from '../../../service/own-turn.ts';
import type { Service } from '../../../service/service.ts';
import type { McpReply, McpSession } from '../../../service/service.ts';
import { pendingResult, unshownResult } from '../tools/fallback.ts';
import type { CallStage, Question } from '../tools/follow-call.ts';
import { questionWords } from '../../../elicitation/question-words.ts';
import { resultFor } from '../tools/result-for.ts';
import type { ToolLayer } from '../tools/tool-layer.ts';
import type { Request, RequestId } from './messages.ts';
import { notificationMessage, questionRequestId, requestMessage, resultMessage } from './messages.ts';

export interface CallStreamParts {
  layer: ToolLayer;
  service: Pick<Service, 'mcpSessions'>;
}

export interface LegacyCall {
  session: McpSession;
  turn: OwnTurn;
  requestId: RequestId;
  /** What was called. */
  tool: string;
  progressToken?: NonNullable<Request['params']['_meta']>['progressToken'];
  /** Questions that are open and were answered before the call. */
  answered?: string[];
  signal: AbortSignal;
}

/** How long a client's word to another process takes to be noticed here, while somebody is asked. */
const replyPollMs = 1_000;
const quietMs = 15_000;
/** Clients since then can come back to a stream that has said nothing yet; older ones fail at an event without data. */
const resumableSince = '2025-11-25';
/** When to come back after the stream broke off. The SDK's clients do so twice: that outlasts a process that starts anew. */
const comeBackMs = 3_000;

export async function* callStream(parts: CallStreamParts, call: LegacyCall): AsyncGenerator<string> {
  const { layer, service } = parts;
  const { session, turn, requestId, progressToken, signal } = call;
  const tag = Buffer.from(JSON.stringify(requestId)).toString('base64url');
  if (session.version >= resumableSince) yield `id: ${tag}.0\nretry: ${comeBackMs}\ndata: \n\n`;
  let sent = 0;
  const toText = (message: object) => `id: ${tag}.${++sent}\ndata: ${JSON.stringify(message)}\n\n`;
  /** By question: how often the client's answer did not fit when it was asked last. */
  const asked = new Map<string, { question: Question; times: number }>();
  const skipped = new Set(call.answered);
  /** Agreed to, and not done yet: the client is told when it is. */
  const awaited = new Set<string>();
  const toResult = session.shows.form && session.shows.url ? unshownResult : pendingResult;
  const told = { labels: 0, at: Date.now(), progress: 0 };

  while (!signal.aborted) {
    const labels: string[] = [];
    const stage = await layer.follow(turn, {
      signal,
      holdMs: asked.size > 0 ? replyPollMs : quietMs,
      answered: new Set([...skipped, ...asked.keys()]),
      onProgress: (label) => labels.push(label),
    });
    if (signal.aborted) return;
    if (progressToken !== undefined) {
      const isQuiet = Date.now() - told.at >= quietMs;
      const news = labels.slice(told.labels);
      for (const message of news.length === 0 && isQuiet ? ['Waiting'] : news) {
        told.at = Date.now();
        told.progress += 1;
        const params = { progressToken, progress: told.progress, message };
        yield toText(notificationMessage('notifications/progress', params));
      }
      told.labels = labels.length;
    }
    for (const question of noLongerOpen(asked, stage)) {
      asked.delete(question.elicitationId);
      if (awaited.has(question.elicitationId)) yield toText(completed(question));
    }
    if (stage.kind === 'done')
      return void (yield toText(resultMessage(requestId, resultFor(stage, call.tool))));

    const open = stage.kind === 'asks' ? stage.questions : [];
    const known = [...asked.keys(), ...open.map(({ elicitationId }) => elicitationId)];
    const found = await service.mcpSessions.replies(session.id, known);
    const replies = new Map(found.map((reply) => [reply.elicitationId, reply]));
    for (const { kind, elicitationId } of found) if (kind === 'awaited') awaited.add(elicitationId);
    const cannotBeAsked = open.filter(({ mode }) => !session.shows[mode]);
    const isUndelivered = ({ elicitationId }: Question) => replies.get(elicitationId)?.kind === 'undelivered';
    const undelivered = [...[...asked.values()].map(({ question }) => question), ...open].filter(
      isUndelivered,
    );
    const inWords = [
      ...cannotBeAsked,
      ...undelivered.filter((question) => !cannotBeAsked.includes(question)),
    ];
    const areOthersAsked = asked.size > 0 || open.length > cannotBeAsked.length;
    if (undelivered.length > 0 || (cannotBeAsked.length > 0 && !areOthersAsked))
      return void (yield toText(resultMessage(requestId, toResult(turn, inWords))));

    for (const question of open) {
      const reply = replies.get(question.elicitationId);
      if (!session.shows[question.mode]) continue;
      if (reply?.kind !== 'awaited') yield toText(ask(question, reply));
      asked.set(question.elicitationId, { question, times: reply?.times ?? 0 });
    }
    for (const [id, { question, times }] of asked) {
      const reply = replies.get(id);
      if (reply?.kind !== 'misfit' || reply.times === times) continue;
      asked.set(id, { question, times: reply.times });
      yield toText(ask(question, reply));
    }
  }
}

function ask(question: Question, reply: McpReply | undefined): object {
  const misfit = reply?.kind === 'misfit' ? (reply.reasons ?? '') : undefined;
  const { elicitationId } = question;
  const message = questionWords(question, misfit);
  const params =
    question.mode === 'url'
      ? { mode: 'url', message, url: question.url, elicitationId }
      : { message, requestedSchema: question.requestedSchema };
  return requestMessage(questionRequestId(elicitationId, reply?.times ?? 0), 'elicitation/create', params);
}

function completed({ elicitationId }: Question): object {
  return notificationMessage('notifications/elicitation/complete', { elicitationId });
}

/** Of those that were asked: the turn is over, or waits for others only. */
function noLongerOpen(asked: ReadonlyMap<string, { question: Question }>, stage: CallStage): Question[] {
  const questions = [...asked.values()].map(({ question }) => question);
  if (stage.kind === 'done') return questions;
  const open = new Set(stage.open.map(({ elicitationId }) => elicitationId));
  return questions.filter(({ elicitationId }) => !open.has(elicitationId));
}
