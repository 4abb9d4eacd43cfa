/**
 * Follows turns and feeds through any number of broken connections.
 *
 * Each connection to a turn replays it from its start. The replay is folded from nothing and merged into what was seen, so
 * views never go back. Only `finish` or `abort` end a turn. A feed goes on after the last complete event, so no event is
 * missing or repeated.
 */
import type { OnElicitation, Questions } from './answer-questions.ts';
import { foldChunk, isSameView, mergeReplay, newFold } from './turn-view.ts';
import { InterludeError, parseObject, unexpectedResponse } from './interlude-error.ts';
import { readChunks, readMessages, reconnecting, streamOf } from './reconnect.ts';
import type { ReadOptions, Reconnect } from './reconnect.ts';
import type { Fold, TurnView } from './turn-view.ts';
import type { ElicitationRequest, PlacedElicitation } from '@interlude-ai/core/contract/elicitation.ts';
import type { StreamEvent } from '@interlude-ai/core/contract/stream-event.ts';

export interface FollowOptions extends ReadOptions {
  onElicitation?: OnElicitation;
  /** Fills `TurnView.operations`. */
  operations?: boolean;
}

interface Follow extends Reconnect {
  /** Undefined when the service names it. */
  conversationId: string | undefined;
  questions: Questions;
}

export async function* followTurn(follow: Follow): AsyncGenerator<TurnView, void> {
  const { questions, conversationId, ...options } = follow;
  const signals = [options.signal, questions.failed].filter((signal) => signal !== undefined);
  const reconnect: Reconnect = {
    ...options,
    ...(signals.length > 0 && { signal: AbortSignal.any(signals) }),
  };
  let seen: Fold | undefined;

  try {
    yield* reconnecting(reconnect, async function* (response, { alive, advanced }) {
      const turnId = response.headers.get('x-turn-id');
      if (response.status === 204 || (seen && seen.view.turnId !== turnId)) {
        if (seen) yield { ...seen.view, status: 'unseen' };
        return 'over';
      }
      const body = streamOf(response);
      const conversation = conversationId ?? response.headers.get('x-conversation-id');
      if (conversation === null) throw unexpectedResponse(response);

      const before = seen;
      let replay = newFold(conversation, turnId);
      for await (const chunk of readChunks(body, alive)) {
        replay = foldChunk(replay, chunk);
        const fold: Fold = before ? mergeReplay(before, replay) : replay;
        const { view } = fold;
        const hasChanged = !seen || !isSameView(seen.view, view);
        seen = fold;
        if (!hasChanged) continue;
        advanced();
        questions.see(view);
        yield view;
        if (view.status !== 'running') return 'over';
      }
      return 'cut';
    });
  } finally {
    questions.close();
  }
}

export interface EventsOptions extends ReadOptions {
  /**
   * Where to begin: after this `seq`, usually that of the last handled event, or `latest` for new events only; from the
   * beginning unless given.
   */
  after?: number | 'latest';
  /** Adds events of type `data-operation`, each before the event it describes. */
  operations?: boolean;
}

export interface FeedItem {
  /** The position of the event. An operation has that of the event before it. */
  seq: number;
  /** Other types may come, and are to be ignored. */
  event: StreamEvent;
}

interface FollowFeed extends Omit<Reconnect, 'connect'> {
  after: EventsOptions['after'];
  connect: (after: EventsOptions['after'], signal: AbortSignal) => Promise<Response>;
}

export async function* followFeed(feed: FollowFeed): AsyncGenerator<FeedItem, void> {
  let { after } = feed;
  const connect = (signal: AbortSignal) => feed.connect(after, signal);
  yield* reconnecting({ ...feed, connect }, async function* (response, { alive, advanced }) {
    // Events without a position belong to the next one that has one, and are repeated with it after a cut.
    let held: StreamEvent[] = [];
    for await (const { id, data } of readMessages(streamOf(response), alive)) {
      const event = parseObject(data ?? '');
      if (isEvent(event)) held.push(event);
      const seq = positionIn(id);
      if (seq === null) continue;
      const items = held.map((one, index) => ({ seq: index < held.length - 1 ? seq - 1 : seq, event: one }));
      held = [];
      if (typeof after === 'number' && seq <= after) continue;
      advanced();
      yield* items;
      after = seq;
    }
    return 'cut';
  });
}

function positionIn(id: string | undefined): number | null {
  return id !== undefined && /^\d{1,15}$/.test(id) ? Number(id) : null;
}

function isEvent(value: Record<string, unknown>): value is StreamEvent {
  return typeof value['type'] === 'string';
}

interface FollowElicitations extends Reconnect {
  list: (conversationId: string, signal: AbortSignal) => Promise<ElicitationRequest[]>;
}

/**
 * Follows a user's questions across conversations. The stream has no positions: every connection begins with the open
 * questions. Those that were settled while disconnected are looked up, so that each question is yielded again when it is
 * settled.
 */
export async function* followElicitations(
  follow: FollowElicitations,
): AsyncGenerator<PlacedElicitation, void> {
  /** Yielded as open, and not yet as settled. */
  const open = new Map<string, PlacedElicitation>();
  let settled: PlacedElicitation[] = [];

  async function connect(signal: AbortSignal): Promise<Response> {
    const response = await follow.connect(signal);
    // The stream reports everything that is settled after it has begun.
    settled = await settledOf([...open.values()], (id) => follow.list(id, signal));
    return response;
  }

  yield* reconnecting({ ...follow, connect }, async function* (response, { alive, advanced }) {
    const body = streamOf(response);
    const lookedUp = new Set(settled.map(({ elicitationId }) => elicitationId));
    for (const elicitation of settled) {
      open.delete(elicitation.elicitationId);
      yield elicitation;
    }
    for await (const { data } of readMessages(body, alive)) {
      const elicitation = parseObject(data ?? '');
      if (!isPlacedElicitation(elicitation)) continue;
      const { elicitationId, status } = elicitation;
      const isTold = status === 'pending' ? open.has(elicitationId) : lookedUp.has(elicitationId);
      if (status === 'pending') open.set(elicitationId, elicitation);
      else open.delete(elicitationId);
      if (isTold) continue;
      advanced();
      yield elicitation;
    }
    return 'cut';
  });
}

/** Those that are no longer open, in their current state. */
async function settledOf(
  elicitations: PlacedElicitation[],
  list: (conversationId: string) => Promise<ElicitationRequest[]>,
): Promise<PlacedElicitation[]> {
  const settled: PlacedElicitation[] = [];
  for (const id of new Set(elicitations.map(({ conversationId }) => conversationId))) {
    const now = await list(id).catch(noneWhenGone);
    for (const { elicitationId, conversationId, turnId } of elicitations) {
      const found = now.find((one) => one.elicitationId === elicitationId);
      if (found && found.status !== 'pending') settled.push({ ...found, conversationId, turnId });
    }
  }
  return settled;
}

function noneWhenGone(error: unknown): ElicitationRequest[] {
  if (error instanceof InterludeError && error.code === 'conversation_not_found') return [];
  throw error;
}

function isPlacedElicitation(value: Record<string, unknown>): value is PlacedElicitation {
  return value['type'] === 'elicitation-request' && typeof value['elicitationId'] === 'string';
}
