/**
 * Tells waiting turns that an account is connected. The database has the fact before the first signal, so a
 * signal that gets lost is repeated by `reconcile`, and one that comes twice changes nothing.
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
  /** Tells every turn that waits for this account. */
  announce(key: ConnectionKey, version: number): Promise<void>;
  /** Tells every other turn that waits for the account of this question. */
  announceToOthers(row: ElicitationRow, version: number): Promise<void>;
  /** Repeats what may have been lost: questions still open although their account is connected. */
  reconcile(): Promise<void>;
}

interface Parts {
  storage: Storage;
  config: Pick<Config, 'servers'>;
  workflows: Pick<TurnWorkflows, 'tellConnected'>;
  logger: Logger;
  /** Milliseconds of a clock that never goes back. */
  now?: () => number;
}

/** The pause after the first repetition; each next one is twice as long, up to the last. */
const firstPauseMs = 5_000;
const lastPauseMs = 600_000;
/** How many turns are told at the same time. */
const atOnce = 50;

type Lost = ElicitationRow & { version: number };

export function createConnectionAnnouncer(parts: Parts): ConnectionAnnouncer {
  const { storage, config, workflows, logger, now = () => performance.now() } = parts;
  /** What was repeated to turns that have not acted on it: their workers are away, and every signal is kept for them. */
  let repeated = new Map<string, { version: number; until: number; pauseMs: number }>();

  async function tell(row: ElicitationRow, version: number): Promise<void> {
    try {
      const delivery = await workflows.tellConnected(row, version);
      // Its workflow was ended from outside and could not close its question itself.
      if (delivery === 'gone') await storage.elicitations.settle(row.id, 'cancel', null);
    } catch (error) {
      logger.warn({ err: error, elicitationId: row.id }, 'a turn could not be told of its connection yet');
    }
  }

  async function tellAll(key: ConnectionKey, version: number, except?: string): Promise<void> {
    const waiting = await storage.elicitations.pendingFor(key);
    await Promise.all(waiting.filter(({ id }) => id !== except).map((row) => tell(row, version)));
  }

  function keyFor(row: ElicitationRow): ConnectionKey | null {
    const server = row.server === null ? undefined : config.servers.get(row.server);
    return server ? connectionKey(server, row) : null;
  }

  /** Those to tell now. Remembers only what is still lost, so the memory does not grow. */
  function due(rows: Lost[]): Lost[] {
    const at = now();
    const before = repeated;
    repeated = new Map();
    return rows.filter((row) => {
      const last = before.get(row.id);
      const isOld = last?.version === row.version;
      if (isOld && at < last.until) {
        repeated.set(row.id, last);
        return false;
      }
      const pauseMs = isOld ? Math.min(last.pauseMs * 2, lastPauseMs) : firstPauseMs;
      repeated.set(row.id, { version: row.version, until: at + pauseMs, pauseMs });
      return true;
    });
  }

  return {
    announce: (key, version) => tellAll(key, version),
    async announceToOthers(row, version) {
      const key = keyFor(row);
      if (key) await tellAll(key, version, row.id);
    },
    async versionFor(row) {
      const key = keyFor(row);
      const connection = key && (await storage.connections.get(key));
      return connection && answersQuestion(connection, row) ? connection.version : null;
    },
    async reconcile() {
      const rows = due(await storage.elicitations.connectedButPending());
      for (let start = 0; start < rows.length; start += atOnce)
        await Promise.all(rows.slice(start, start + atOnce).map((row) => tell(row, row.version)));
    },
  };
}
