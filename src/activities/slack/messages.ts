/**
 * The Slack messages of one delivery. Each gets a row before Slack is called; afterwards the row gets the message's place
 * (`ts`). A row without a place, or with `isSure: false`, belongs to a call whose outcome is unknown: the thread is read to
 * find the message, and its contents are written again, which is idempotent.
 */
import { createHash } from 'node:crypto';
import type { SlackDelivery } from '../../storage/tables/slack-deliveries.ts';
import type { SlackMessageRow } from '../../storage/schema/slack-tables.ts';
import type { Storage } from '../../storage/storage.ts';
import { SlackCallFailed } from './slack-calls.ts';
import type { Contents, SlackCalls } from './slack-calls.ts';

type NewMessage = Pick<SlackMessageRow, 'kind' | 'subject' | 'begins' | 'ends' | 'digest' | 'isOpen'>;

export interface Messages {
  of(kind: SlackMessageRow['kind'], subject: string): SlackMessageRow[];
  post(message: NewMessage, contents: Contents): Promise<void>;
  /** False if Slack does not stream here. */
  stream(message: NewMessage, markdown: string): Promise<boolean>;
  /** False if the stream has ended; it shows what it showed before. */
  append(
    row: SlackMessageRow,
    to: Pick<SlackMessageRow, 'ends' | 'digest'>,
    markdown: string,
  ): Promise<boolean>;
  /** False if the stream had ended before. */
  stop(row: SlackMessageRow, markdown: string): Promise<boolean>;
  /** Ends the stream, if it is one. */
  rewrite(row: SlackMessageRow, to: Partial<NewMessage>, contents: Contents): Promise<void>;
  /** Marks a message that is no stream as complete. */
  finish(row: SlackMessageRow): Promise<void>;
  remove(row: SlackMessageRow): Promise<void>;
  /** Finds a message that may have been posted; null if it was not. `isLike`: whether this text may be the message. */
  locate(row: SlackMessageRow, isLike: (text: string) => boolean): Promise<SlackMessageRow | null>;
}

/** Another attempt at the delivery has begun. */
class DeliveryTaken extends Error {
  override readonly name = 'DeliveryTaken';
}

interface Parts {
  storage: Storage;
  calls: SlackCalls;
  delivery: SlackDelivery;
  holder: string;
  rows: SlackMessageRow[];
}

/** How much Slack's clock and ours may differ. */
const clocksDifferMs = 5 * 60 * 1000;

export function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}

export function createMessages({ storage, calls, delivery, holder, rows }: Parts): Messages {
  const { deliveries } = storage.slack;
  const { team, channel, turn } = delivery;

  async function put(row: SlackMessageRow, changes: Partial<SlackMessageRow>): Promise<void> {
    const changed = { ...row, ...changes };
    if (!(await deliveries.put(holder, changed))) throw new DeliveryTaken();
    Object.assign(row, changes);
    if (!rows.includes(row)) rows.push(row);
  }

  async function drop(row: SlackMessageRow): Promise<void> {
    if (!(await deliveries.drop(holder, row))) throw new DeliveryTaken();
    rows.splice(rows.indexOf(row), 1);
  }

  /** Posts a message. Deletes its row if it certainly was not posted. */
  async function begin(
    message: NewMessage,
    isStream: boolean,
    call: (row: SlackMessageRow) => Promise<string>,
  ): Promise<void> {
    const row: SlackMessageRow = {
      ...message,
      turnId: turn.turnId,
      number: (rows.at(-1)?.number ?? 0) + 1,
      team,
      channel,
      ts: null,
      isSure: false,
      isStream,
      startedAt: Date.now(),
    };
    await put(row, {});
    try {
      const ts = await call(row);
      await put(row, { ts, isSure: true });
    } catch (error) {
      if (wasNotDone(error)) await drop(row);
      throw error;
    }
  }

  async function stop(row: SlackMessageRow, markdown: string): Promise<boolean> {
    await put(row, { isSure: false });
    try {
      await calls.stopStream(row.ts ?? '', row, markdown);
    } catch (error) {
      if (!isRefused(error)) throw error;
      await put(row, { isSure: markdown === '', isOpen: false, isStream: false });
      return false;
    }
    await put(row, { isSure: true, isOpen: false, isStream: false });
    return true;
  }

  return {
    of: (kind, subject) => rows.filter((row) => row.kind === kind && row.subject === subject),
    post: (message, contents) => begin(message, false, (row) => calls.post(row, contents)),
    async stream(message, markdown) {
      try {
        await begin(message, true, () => calls.startStream(markdown));
        return true;
      } catch (error) {
        if (!isRefused(error)) throw error;
        await deliveries.stopStreaming(turn.turnId);
        return false;
      }
    },
    async append(row, to, markdown) {
      const before = { ends: row.ends, digest: row.digest };
      await put(row, { ...to, isSure: false });
      try {
        await calls.appendStream(row.ts ?? '', markdown);
      } catch (error) {
        if (wasNotDone(error)) await put(row, { ...before, isSure: true });
        if (!isRefused(error)) throw error;
        await put(row, { isOpen: false, isStream: false });
        return false;
      }
      await put(row, { isSure: true });
      return true;
    },
    stop,
    async rewrite(row, to, contents) {
      if (row.isStream) await stop(row, '');
      await put(row, { ...to, isSure: false });
      try {
        await calls.update(row.ts ?? '', row, contents);
      } catch (error) {
        if (!isGone(error)) throw error;
        // A user deleted it, or it is too old to be edited.
        await put(row, { isOpen: false });
      }
      await put(row, { isSure: true });
    },
    finish: (row) => put(row, { isOpen: false }),
    async remove(row) {
      if (row.isStream) await stop(row, '');
      try {
        await calls.remove(row.ts ?? '');
      } catch (error) {
        if (!isGone(error)) throw error;
      }
      await drop(row);
    },
    async locate(row, isLike) {
      if (row.ts !== null) return row;
      const seen = await calls.readBack(row.startedAt - clocksDifferMs);
      let found = seen.find(({ turnId, number }) => turnId === turn.turnId && number === row.number);
      // A stream has no metadata until it is stopped.
      if (!found && row.isStream)
        for (const one of seen) {
          const isFree =
            one.isOurs &&
            one.turnId === null &&
            one.ts !== delivery.threadTs &&
            isLike(one.text) &&
            !(await deliveries.isOurs({ team, channel, ts: one.ts }));
          if (isFree) found = one;
        }
      if (!found) {
        await drop(row);
        return null;
      }
      await put(row, { ts: found.ts });
      return row;
    },
  };
}

function wasNotDone(error: unknown): boolean {
  return error instanceof SlackCallFailed && error.trouble.kind !== 'unavailable';
}

function isRefused(error: unknown): boolean {
  return error instanceof SlackCallFailed && error.trouble.kind === 'refused';
}

const goneCodes = ['message_not_found', 'cant_update_message', 'cant_delete_message', 'edit_window_closed'];

function isGone(error: unknown): boolean {
  return (
    error instanceof SlackCallFailed &&
    error.trouble.kind === 'refused' &&
    goneCodes.includes(error.trouble.code)
  );
}
