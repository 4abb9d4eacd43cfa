/**
 * Notifies followers that a conversation's log has grown, that the questions to a user have changed, or that an MCP client
 * has replied to a question. A notification is only a hint: the notified read the log, the questions or the replies.
 *
 * Writers notify followers of this process directly, and other processes over the channel (LISTEN/NOTIFY on PostgreSQL, none
 * on SQLite). Because hints can get lost, each process polls with three queries: the counters of all followed conversations,
 * the open questions of all followed users, and the replies in all followed sessions. An idle follower costs nothing of its
 * own.
 */
import { hash } from 'node:crypto';
import type { Logger } from 'pino';
import type { ConversationRef } from '../../turn/turn.ts';

/** Carries hints between processes. Topics are hashes: short, and without ids that would appear in a server's log. */
export interface Channel {
  /** Starts listening; later calls do nothing. `heard(null)` means that hints may have been missed. */
  listen(heard: (topic: string | null) => void): void;
  send(topic: string): void;
  close(): Promise<void>;
}

interface Subscription {
  /** Resolves at the next notification, or at once when there was one since the last `reset`. */
  notified(): Promise<void>;
  /** Forgets earlier notifications. Call it before reading, so that a notification during the read is not lost. */
  reset(): void;
  close(): void;
}

/** The questions to this user, in all conversations. */
export interface AskedUser {
  tenant: string;
  askedUser: string;
}

/** Replies of an MCP client in this session. */
export interface RepliedSession {
  mcpSession: string;
}

type Followed = ConversationRef | AskedUser | RepliedSession;

export interface Notifications {
  /** Call it after the commit. */
  announce(ref: Followed): void;
  subscribe(ref: Followed): Subscription;
  /** Wakes every subscriber; `closed` is true from then on. */
  close(): Promise<void>;
  readonly closed: boolean;
}

export interface NotificationOptions {
  pollMs: number;
  channel: Channel | null;
  /** Unchanged while no other process has written. Spares polls where the database can tell. */
  version?: (() => Promise<number>) | undefined;
  /** The initial state of a topic. Without it, the first poll notifies every follower. */
  initially?: number;
  /** The counters of these conversations, in any order. */
  lastSeqs: (refs: ConversationRef[]) => Promise<(ConversationRef & { last_seq: number })[]>;
  /** A value for each of these users that differs when other questions are open; in any order. */
  openQuestions?: (users: AskedUser[]) => Promise<(AskedUser & { open: string })[]>;
  /** A value for each of these sessions that has replies; it differs when there are new ones. */
  replies?: (sessions: RepliedSession[]) => Promise<(RepliedSession & { replies: number })[]>;
  logger: Logger;
}

interface Topic {
  ref: Followed;
  waiters: Set<() => void>;
  /** The state at the last poll. Undefined before the first poll, which therefore always notifies. */
  seen: number | string | undefined;
}

export function createNotifications({
  pollMs,
  channel,
  version,
  initially,
  lastSeqs,
  openQuestions,
  replies,
  logger,
}: NotificationOptions): Notifications {
  const topics = new Map<string, Topic>();
  let closed = false;
  let timer: NodeJS.Timeout | undefined;
  let seenVersion: number | undefined;

  const notify = (name: string | null) => {
    const notifiedTopics = name === null ? topics.values() : [topics.get(name)];
    for (const topic of notifiedTopics) topic?.waiters.forEach((wake) => wake());
  };

  const schedulePoll = () => {
    if (timer !== undefined || closed || topics.size === 0) return;
    timer = setTimeout(() => {
      void poll().finally(() => {
        timer = undefined;
        schedulePoll();
      });
    }, pollMs);
    timer.unref();
  };

  const poll = async () => {
    try {
      const now = await version?.();
      if (now !== undefined && now === seenVersion) return;
      for (const { name, state } of await readStates()) {
        const topic = topics.get(name);
        if (!topic || topic.seen === state) continue;
        topic.seen = state;
        notify(name);
      }
      seenVersion = now;
    } catch (error) {
      logger.warn({ err: error }, 'cannot look for new turn events; trying again');
    }
  };

  const readStates = async () => {
    const followed = [...topics.values()].map(({ ref }) => ref);
    const states = await Promise.all([
      readStatesOf(followed.filter(isConversation), lastSeqs, (row) => row.last_seq),
      readStatesOf(followed.filter(isUser), openQuestions, (row) => row.open),
      readStatesOf(followed.filter(isSession), replies, (row) => row.replies),
    ]);
    return states.flat();
  };

  return {
    announce(ref) {
      if (closed) return;
      const name = topicOf(ref);
      notify(name);
      channel?.send(name);
    },
    subscribe(ref) {
      const name = topicOf(ref);
      const topic = topics.get(name) ?? { ref, waiters: new Set(), seen: initially };
      topics.set(name, topic);
      const { wake, subscription } = createSubscription(() => {
        topic.waiters.delete(wake);
        if (topic.waiters.size === 0 && topics.get(name) === topic) topics.delete(name);
      });
      topic.waiters.add(wake);
      channel?.listen(notify);
      schedulePoll();
      return subscription;
    },
    async close() {
      closed = true;
      clearTimeout(timer);
      notify(null);
      await channel?.close();
    },
    get closed() {
      return closed;
    },
  };
}

function createSubscription(close: () => void): { wake: () => void; subscription: Subscription } {
  let next = Promise.withResolvers<void>();
  return {
    wake: () => next.resolve(),
    subscription: {
      notified: () => next.promise,
      reset: () => (next = Promise.withResolvers<void>()),
      close,
    },
  };
}

const isConversation = (ref: Followed) => 'conversation' in ref;
const isUser = (ref: Followed) => 'askedUser' in ref;
const isSession = (ref: Followed) => 'mcpSession' in ref;

/** The states of one kind of topic, with one query; none if there is no such topic. */
async function readStatesOf<Ref extends Followed, Row extends Ref>(
  refs: Ref[],
  read: ((refs: Ref[]) => Promise<Row[]>) | undefined,
  stateOf: (row: Row) => number | string,
): Promise<{ name: string; state: number | string }[]> {
  const rows = refs.length > 0 ? await read?.(refs) : undefined;
  return (rows ?? []).map((row) => ({ name: topicOf(row), state: stateOf(row) }));
}

function topicOf(ref: Followed): string {
  return hash('sha256', JSON.stringify(partsOf(ref)), 'base64url');
}

function partsOf(ref: Followed): string[] {
  if ('mcpSession' in ref) return [ref.mcpSession];
  return 'askedUser' in ref ? [ref.tenant, 'questions', ref.askedUser] : [ref.tenant, ref.conversation];
}

/**
 * Undefined as soon as `signal` aborts. Each wait adds its own listener: a promise for the whole stream would keep every wait
 * in memory until its end.
 */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  if (signal.aborted) return undefined;
  const { promise: aborted, resolve } = Promise.withResolvers<undefined>();
  const abort = () => resolve(undefined);
  signal.addEventListener('abort', abort);
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
