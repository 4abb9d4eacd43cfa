/**
 * The stream of one tool call up to 2025-11-25: progress, our questions as requests, and the result. It is made from the
 * turn's log, so that any process tells it again to a client that comes back; what is still open is asked again. While
 * somebody is asked nothing is read: the log and the client's replies announce what is new.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { McpSession } from '../../../service/mcp-sessions.ts';
import type { OwnTurn } from '../../../service/own-turn.ts';
import type { Service } from '../../../service/service.ts';
import { pendingResult, unshownResult } from '../tools/fallback.ts';
import { gatheringMs } from '../tools/follow-call.ts';
import type { CallStage } from '../tools/follow-call.ts';
import { resultFor } from '../tools/result-for.ts';
import type { ToolLayer } from '../tools/tool-layer.ts';
import { askOpen, closeSettled, unaskable } from './asking.ts';
import type { Asking, Replies } from './asking.ts';
import type { RequestId } from './messages.ts';
import { notificationMessage, resultMessage } from './messages.ts';

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
  progressToken: string | number | null;
  /** Questions that are open and were answered before the call. */
  answered?: string[];
  signal: AbortSignal;
}

/** Of silence, until a client that wants to be told of progress is told that the call waits. Clients give up after 60 s. */
const quietMs = 15_000;
/** Clients since then can come back to a stream that has said nothing yet; older ones fail at an event without data. */
const resumableSince = '2025-11-25';
/** When to come back after the stream broke off. The SDK's clients do so twice: that outlasts a process that starts anew. */
const comeBackMs = 3_000;

export async function* callStream(parts: CallStreamParts, call: LegacyCall): AsyncGenerator<string> {
  const { session, requestId } = call;
  const tag = Buffer.from(JSON.stringify(requestId)).toString('base64url');
  if (session.version >= resumableSince) yield `id: ${tag}.0\nretry: ${comeBackMs}\ndata: \n\n`;
  let sent = 0;
  for await (const message of messagesOf(parts, call))
    yield `id: ${tag}.${++sent}\ndata: ${JSON.stringify(message)}\n\n`;
}

async function* messagesOf({ layer, service }: CallStreamParts, call: LegacyCall): AsyncGenerator<object> {
  const { session, turn, requestId, progressToken, signal } = call;
  const { shows } = session;
  const stop = new AbortController();
  const until = AbortSignal.any([signal, stop.signal]);
  const news = createNews();
  const labels: string[] = [];
  const asking: Asking = { asked: new Map() };
  const answeredNow = () => new Set([...(call.answered ?? []), ...asking.asked.keys()]);
  const forgetReplies = service.mcpSessions.onReply(session.id, news.tell);
  until.addEventListener('abort', news.tell);
  const watched = layer.watch(turn, {
    signal: until,
    onNews: news.tell,
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

      const inWords = unaskable(asking, stage, { shows, replies });
      if (inWords.length > 0) {
        const toResult = shows.form && shows.url ? unshownResult : pendingResult;
        return void (yield resultMessage(requestId, toResult(turn, inWords, reasonsIn(replies))));
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

/** Also to those that are open no more: what was agreed to just before its page was done is in no earlier look. */
async function repliesTo(
  { mcpSessions }: CallStreamParts['service'],
  { id }: McpSession,
  { asked }: Asking,
  stage: CallStage,
): Promise<Replies> {
  const open = stage.kind === 'done' ? [] : stage.open.map(({ elicitationId }) => elicitationId);
  const known = [...new Set([...asked.keys(), ...open])];
  const replies = known.length === 0 ? [] : await mcpSessions.replies(id, known);
  return new Map(replies.map((reply) => [reply.elicitationId, reply]));
}

/** What was wrong with answers, by question. */
function reasonsIn(replies: Replies): Map<string, string> {
  const misfits = [...replies].filter(([, { kind }]) => kind === 'misfit');
  return new Map(misfits.map(([id, { reasons }]) => [id, reasons ?? '']));
}

/** What was told between two waits is waited for no more. */
function createNews() {
  let next = Promise.withResolvers<void>();
  return {
    tell: (): void => next.resolve(),
    /** Whether there was any, before this time was over. */
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
