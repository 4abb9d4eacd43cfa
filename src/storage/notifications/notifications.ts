/**
 * Notifies followers that a conversation's log has grown, that the questions to a user have changed, or that an MCP client
 * has said something about a question. A notification is a hint, never the truth: whoever is notified reads the log, the
 * questions or what was said.
 *
 * Writers in this process notify directly; other processes over the channel (LISTEN/NOTIFY on PostgreSQL, none on SQLite).
 * Because a hint can get lost, three queries per process look from time to time: one at the counters of all followed
 * conversations, one at the questions to all followed users, and one at what clients said. An idle follower costs nothing
 * of its own.
 */
import { hash } from 'node:crypto';
import type { Logger } from 'pino';
import type { ConversationRef } from '../../turn/turn.ts';

/** Carries hints between processes. Topics are hashes: short, and nobody's ids end up in a server's log. */
export interface Channel {
  /** Starts listening, once; later calls do nothing. `heard(null)` means that hints may have been missed. */
  listen(heard: (topic: string | null) => void): void;
  send(topic: string): void;
  close(): Promise<void>;
}

interface Subscription {
  /** Resolves at the next notification, or at once when there was one since the last `reset`. */
  notified(): Promise<void>;
  /** Forgets earlier notifications; call it before reading, so that a notification during the read is not lost. */
  reset(): void;
  close(): void;
}

/** The questions to this user, in all conversations. */
export interface AskedUser {
  tenant: string;
  askedUser: string;
}

/** What the client said in this session of MCP. */
export interface RepliedSession {
  mcpSession: string;
}

type Followed = ConversationRef | AskedUser | RepliedSession;

export interface Notifications {
  /** To be called after commit. */
  announce(ref: Followed): void;
  subscribe(ref: Followed): Subscription;
  /** Wakes every subscriber for good: `closed` is true from then on. */
  close(): Promise<void>;
  readonly closed: boolean;
}

export interface NotificationOptions {
  pollMs: number;
  channel: Channel | null;
  /** The same as before: no other process has written since. Spares the poll where the database can tell. */
  version?: (() => Promise<number>) | undefined;
  /** The counter of a conversation in which nothing has happened that somebody waits for. Without it, the first poll notifies everybody. */
  initially?: number;
  /** The counters of these conversations, in any order. */
  lastSeqs: (refs: ConversationRef[]) => Promise<(ConversationRef & { last_seq: number })[]>;
  /** What differs whenever other questions are open, for each of these users; in any order. */
  openQuestions?: (users: AskedUser[]) => Promise<(AskedUser & { open: string })[]>;
  /** What differs whenever something was said, for those of these sessions in which something was. */
  replies?: (sessions: RepliedSession[]) => Promise<(RepliedSession & { replies: number })[]>;
  logger: Logger;
}

interface Topic {
  ref: Followed;
  waiters: Set<() => void>;
  /** The state at the last poll; unknown before the first, which therefore always notifies, unless it is known from the beginning. */
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

/** Of one kind of what is followed, with one query; none where nothing of that kind is. */
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
