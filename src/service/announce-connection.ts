/**
 * Signals the turns that wait for an account that it is connected. The connection is committed before the first signal is
 * sent, so `reconcile` can repeat a signal that was lost; a repeated signal changes nothing.
 */
import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';
import { connectionKey } from '../credentials/connection-key.ts';
import type { ConnectionKey } from '../storage/ports/connections.ts';
import type { ElicitationRow } from '../storage/ports/elicitations.ts';
import type { Storage } from '../storage/storage.ts';
import { answersQuestion } from './connection-question.ts';
import type { TurnWorkflows } from './turn-workflows.ts';

export interface ConnectionAnnouncer {
  /**
   * The version of the account this question waits for, when it is connected by now; else null. Whoever connects it
   * after this look announces it to the question, which is open.
   */
  versionFor(row: ElicitationRow): Promise<number | null>;
  /** Signals every turn that waits for this account. */
  announce(key: ConnectionKey, version: number): Promise<void>;
  /** Signals every turn that waits for the account of this question, except the question's own. */
  announceToOthers(row: ElicitationRow, version: number): Promise<void>;
  /** Repeats signals that may have been lost: to questions that are open although their account is connected. */
  reconcile(): Promise<void>;
}

interface Parts {
  storage: Storage;
  config: Pick<Config, 'servers'>;
  workflows: Pick<TurnWorkflows, 'signalConnected'>;
  logger: Logger;
  /** Milliseconds of a clock that never goes back. */
  now?: () => number;
}

/** Doubles with each repetition, up to the longest. */
const firstBackoffMs = 5_000;
const longestBackoffMs = 600_000;
/** How many turns are signalled at the same time. */
const maxConcurrent = 50;

type Lost = ElicitationRow & { version: number };
/** By question. `until`: not to be signalled before; `nextMs`: how long not to, after that. */
type Backoffs = Map<string, { version: number; until: number; nextMs: number }>;

export function createConnectionAnnouncer(parts: Parts): ConnectionAnnouncer {
  const { storage, config, workflows, logger, now = () => performance.now() } = parts;
  /** A turn that does not react has no worker just now, and Temporal keeps every signal for it. Null before the first round. */
  let repeated: Backoffs | null = null;

  async function signal(row: ElicitationRow, version: number): Promise<void> {
    try {
      const delivery = await workflows.signalConnected(row, version);
      // Its workflow was ended from outside and could not close its question itself.
      if (delivery === 'gone') await storage.elicitations.settle(row.id, 'cancel', null);
    } catch (error) {
      logger.warn(
        { err: error, elicitationId: row.id },
        'the signal that an account is connected could not be sent; it is repeated',
      );
    }
  }

  async function signalAll(key: ConnectionKey, version: number, except?: string): Promise<void> {
    const waiting = await storage.elicitations.pendingFor(key);
    await Promise.all(waiting.filter(({ id }) => id !== except).map((row) => signal(row, version)));
  }

  function keyFor(row: ElicitationRow): ConnectionKey | null {
    const server = row.server === null ? undefined : config.servers.get(row.server);
    return server ? connectionKey(server, row) : null;
  }

  /**
   * The questions to signal now. A connection that is new since the last round was signalled a moment ago: it is repeated
   * once a later round still finds it. What the first round finds may have been lost with another process. Keeps only the
   * backoff of questions in `rows`, so the map does not grow.
   */
  function due(rows: Lost[]): Lost[] {
    const at = now();
    const isFirstRound = repeated === null;
    const before: Backoffs = repeated ?? new Map();
    const after: Backoffs = new Map();
    repeated = after;
    return rows.filter(({ id, version }) => {
      const last = before.get(id);
      if (last?.version !== version) {
        after.set(id, {
          version,
          until: at + firstBackoffMs,
          nextMs: firstBackoffMs * (isFirstRound ? 2 : 1),
        });
        return isFirstRound;
      }
      if (at < last.until) {
        after.set(id, last);
        return false;
      }
      after.set(id, {
        version,
        until: at + last.nextMs,
        nextMs: Math.min(last.nextMs * 2, longestBackoffMs),
      });
      return true;
    });
  }

  return {
    announce: (key, version) => signalAll(key, version),
    async announceToOthers(row, version) {
      const key = keyFor(row);
      if (key) await signalAll(key, version, row.id);
    },
    async versionFor(row) {
      const key = keyFor(row);
      const connection = key && (await storage.connections.get(key));
      return connection && answersQuestion(connection, row) ? connection.version : null;
    },
    async reconcile() {
      const rows = due(await storage.elicitations.connectedButPending());
      for (let start = 0; start < rows.length; start += maxConcurrent)
        await Promise.all(rows.slice(start, start + maxConcurrent).map((row) => signal(row, row.version)));
    },
  };
}
