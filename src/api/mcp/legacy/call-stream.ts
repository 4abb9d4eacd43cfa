/**
 * The stream of one tool call up to 2025-11-25: progress, our questions as requests, and the result. It is derived from the
 * turn's log, so any process can send it again to a client that reconnects; open questions are asked again. The loop waits for
 * news of the log and of the client's replies, and does not poll.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { McpSession, McpReply } from '../../../service/mcp-sessions.ts';
import type { OwnTurn } from '../../../service/own-turn.ts';
import type { Service } from '../../../service/service.ts';
import type { Capabilities } from '@interlude-ai/core/elicitation/elicitation.ts';
import { toData } from '../../http/event-stream.ts';
import { pendingResult, unshownResult } from '../tools/fallback.ts';
import { gatheringMs, resultFor } from '../tools/follow-call.ts';
import type { CallStage, Question } from '../tools/follow-call.ts';
import type { McpContext } from '../tools/tool-layer.ts';
import { isShowable, toInputRequest } from '../tools/questions.ts';
import { notificationMessage, resultMessage, questionRequestId, requestMessage } from './messages.ts';
import type { RequestId } from './messages.ts';

export interface LegacyCall {
  session: McpSession;
  turn: OwnTurn;
  requestId: RequestId;
  /** Its name. */
  tool: string;
  progressToken: string | number | null;
  /** Open questions that were answered before the call. */
  answered?: string[];
  signal: AbortSignal;
}

/** After this much silence, a client that asked for progress gets some. Clients give up after 60 s. */
const quietMs = 15_000;
/** Clients since then can resume a stream that had no message yet; older ones fail at an event without data. */
const resumableSince = '2025-11-25';
/** When to reconnect. The SDK's clients try twice, which is long enough for a process to restart. */
const comeBackMs = 3_000;

export async function* callStream(parts: McpContext, call: LegacyCall): AsyncGenerator<string> {
  const { session, requestId } = call;
  const tag = Buffer.from(JSON.stringify(requestId)).toString('base64url');
  if (session.version >= resumableSince) yield `id: ${tag}.0\nretry: ${comeBackMs}\ndata: \n\n`;
  let sent = 0;
  for await (const message of messagesOf(parts, call)) yield `id: ${tag}.${++sent}\n${toData(message)}`;
}

async function* messagesOf({ layer, service }: McpContext, call: LegacyCall): AsyncGenerator<object> {
  const { session, turn, requestId, progressToken, signal } = call;
  const { shows } = session;
  const stop = new AbortController();
  const until = AbortSignal.any([signal, stop.signal]);
  const news = createNews();
  const labels: string[] = [];
  const asking: Asking = { asked: new Map() };
  const answeredNow = () => new Set([...(call.answered ?? []), ...asking.asked.keys()]);
  const forgetReplies = service.mcpSessions.onReply(session.id, news.give);
  until.addEventListener('abort', news.give);
  const watched = layer.watch(turn, {
    signal: until,
    onNews: news.give,
    onProgress: (label) => labels.push(label),
  });
  try {
    for (let progress = 0; ;) {
      const isQuiet = !(await news.within(quietMs));
      if (signal.aborted) return;
      let stage = watched.stage(answeredNow());
      if (stage.kind === 'asks') {
        await sleep(gatheringMs, undefined, { signal }).catch(() => undefined);
        stage = watched.stage(answeredNow());
      }
      for (const message of progressToken === null ? [] : progressOf(labels, isQuiet))
        yield notificationMessage('notifications/progress', { progressToken, progress: ++progress, message });
      const replies = await repliesTo(service, session, asking, stage);
      yield* closeSettled(asking, stage, replies);
      if (stage.kind === 'done') return void (yield resultMessage(requestId, resultFor(stage, call.tool)));

      const asText = questionsToEndWith(asking, stage, { shows, replies });
      if (asText.length > 0) {
        const toResult = shows.form && shows.url ? unshownResult : pendingResult;
        return void (yield resultMessage(requestId, toResult(turn, asText, reasonsIn(replies))));
      }
      yield* askOpen(asking, stage, { shows, replies });
    }
  } finally {
    stop.abort();
    forgetReplies();
  }
}

function progressOf(labels: string[], isQuiet: boolean): string[] {
  const fresh = labels.splice(0);
  return fresh.length === 0 && isQuiet ? ['Waiting'] : fresh;
}

/** Includes replies to questions that have closed: a consent may arrive just before its page is done. */
async function repliesTo(
  { mcpSessions }: Service,
  { id }: McpSession,
  { asked }: Asking,
  stage: CallStage,
): Promise<Replies> {
  const open = stage.kind === 'done' ? [] : stage.open.map(({ elicitationId }) => elicitationId);
  const known = [...new Set([...asked.keys(), ...open])];
  const replies = known.length === 0 ? [] : await mcpSessions.replies(id, known);
  return new Map(replies.map((reply) => [reply.elicitationId, reply]));
}

/** By question: what was wrong with its answer. */
function reasonsIn(replies: Replies): Map<string, string> {
  const misfits = [...replies].filter(([, { kind }]) => kind === 'misfit');
  return new Map(misfits.map(([id, { reasons }]) => [id, reasons ?? '']));
}

/** A signal that remembers being given between two waits. */
function createNews() {
  let next = Promise.withResolvers<void>();
  return {
    give: (): void => next.resolve(),
    /** True if it was given within this time. */
    async within(ms: number): Promise<boolean> {
      const stop = new AbortController();
      const isNews = await Promise.race([
        next.promise.then(() => true),
        sleep(ms, false, { signal: stop.signal }).catch(() => false),
      ]);
      stop.abort();
      if (isNews) next = Promise.withResolvers();
      return isNews;
    },
  };
}

/** Which questions one stream has asked, and what it says next: after news of the turn, or a word of the client. Pure. */
interface Asking {
  /** The questions that this stream has asked: how often each had been answered wrongly when it was asked last. */
  asked: Map<string, { question: Question; times: number }>;
}

type Replies = ReadonlyMap<string, McpReply>;

type Open = Exclude<CallStage, { kind: 'done' }>;

/**
 * Forgets the asked questions that have closed. Returns the notifications about them: for each page that the client agreed to,
 * that it is done.
 */
function closeSettled({ asked }: Asking, stage: CallStage, replies: Replies): object[] {
  const open = new Set(stage.kind === 'done' ? [] : stage.open.map(({ elicitationId }) => elicitationId));
  const settled = [...asked.keys()].filter((id) => !open.has(id));
  for (const id of settled) asked.delete(id);
  return settled
    .filter((elicitationId) => replies.get(elicitationId)?.kind === 'awaited')
    .map((elicitationId) => notificationMessage('notifications/elicitation/complete', { elicitationId }));
}

/** Per question: a client that always sends the same form would otherwise be asked forever. */
const mostMisfits = 5;

/** The questions to end the call with, as text: those that the client failed to show, or all if it can show none. */
function questionsToEndWith(
  { asked }: Asking,
  stage: Open,
  { shows, replies }: { shows: Capabilities; replies: Replies },
): Question[] {
  const open = newlyOpen(stage);
  const isShown = isShowable(shows);
  const unshown = open.filter((question) => !isShown(question));
  const failed = [...[...asked.values()].map(({ question }) => question), ...open].filter(
    (question) => isWornOut(replies.get(question.elicitationId)) && !unshown.includes(question),
  );
  const areOthersAsked = asked.size > 0 || open.length > unshown.length;
  return failed.length > 0 || !areOthersAsked ? [...unshown, ...failed] : [];
}

function isWornOut(reply: McpReply | undefined): boolean {
  return reply?.kind === 'undelivered' || (reply?.kind === 'misfit' && reply.times >= mostMisfits);
}

/** Requests for newly opened questions, and again for those whose answer did not fit. */
function askOpen(
  { asked }: Asking,
  stage: Open,
  { shows, replies }: { shows: Capabilities; replies: Replies },
): object[] {
  const requests: object[] = [];
  for (const [id, { question, times }] of asked) {
    const reply = replies.get(id);
    if (reply?.kind !== 'misfit' || reply.times === times) continue;
    asked.set(id, { question, times: reply.times });
    requests.push(toRequest(question, reply));
  }
  for (const question of newlyOpen(stage).filter(isShowable(shows))) {
    const reply = replies.get(question.elicitationId);
    if (reply?.kind !== 'awaited') requests.push(toRequest(question, reply));
    asked.set(question.elicitationId, { question, times: reply?.times ?? 0 });
  }
  return requests;
}

function newlyOpen(stage: Open): Question[] {
  return stage.kind === 'asks' ? stage.questions : [];
}

function toRequest(question: Question, reply: McpReply | undefined): object {
  const misfit = reply?.kind === 'misfit' ? (reply.reasons ?? '') : undefined;
  const { elicitationId } = question;
  const { method, params } = toInputRequest(question, misfit);
  const { mode, _meta, ...rest } = params;
  // Revisions before 2025-11-25 know no modes, and only later ones have pages.
  const own = mode === 'url' ? { mode, ...rest, elicitationId, _meta } : { ...rest, _meta };
  return requestMessage(questionRequestId(elicitationId, reply?.times ?? 0), method, own);
}
