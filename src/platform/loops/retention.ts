/**
 * Deletes data when its time is up, hourly. Every API process does this; they share the work. See docs/retention.md, and
 * docs/decisions/0145-data-is-deleted-by-a-loop.md for why no workflow does it.
 */
import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';
import type { Service } from '../../service/service.ts';
import { startLeasedLoop } from '../../storage/leased-loop.ts';
import type { LeasedLoop } from '../../storage/leased-loop.ts';
import type { Storage } from '../../storage/storage.ts';

const everyMs = 3_600_000;
/** The first look comes at a random time within this, because processes often start together. */
const firstWithinMs = 60_000;
/** Turns, or rows, of one transaction: a few hundred rows to a few thousand. */
const batch = { turns: 50, rows: 500, connections: 20 };

interface Parts {
  storage: Pick<Storage, 'retention' | 'now'>;
  config: Pick<Config, 'retention'>;
  endConnection: Service['connections']['end'];
  logger: Logger;
}

export function startRetention({
  storage: { retention, now },
  config,
  endConnection,
  logger,
}: Parts): Pick<LeasedLoop, 'stop'> {
  const { answersMs, stateMs, imagesMs, logMs, messagesMs, connectionsMs, auditMs } = config.retention;
  const stopping = new AbortController();

  /** Whole turns before parts of them, because nothing else has to be deleted of them then. */
  const steps: [name: string, ageMs: number | undefined, next: (before: number) => Promise<number>][] = [
    ['expired', 0, () => retention.deleteExpired(batch.rows)],
    ['turns', messagesMs, (before) => retention.deleteTurns(before, batch.turns)],
    ['logs', logMs, (before) => retention.deleteOfTurns('log', before, batch.turns)],
    ['answers', answersMs, (before) => retention.deleteOfTurns('answers', before, batch.turns)],
    ['images', imagesMs, (before) => retention.deleteOfTurns('images', before, batch.turns)],
    ['state', stateMs, (before) => retention.deleteOfTurns('state', before, batch.turns)],
    ['audit', auditMs, (before) => retention.deleteAudit(before, batch.rows)],
    ['erasures', auditMs, (before) => retention.deleteErasures(before, batch.rows)],
  ];

  /** Accounts that cannot be ended are found again in an hour; others that follow them are ended now. */
  async function endUnused(before: number): Promise<number> {
    const failed = new Set<string>();
    const by = ' (not used for a long time)';
    let ended = 0;
    for (;;) {
      const unused = await retention.unusedConnections(before, batch.connections + failed.size);
      const next = unused.filter((key) => !failed.has(JSON.stringify(key)));
      if (next.length === 0) return ended;
      for (const key of next) {
        if (stopping.signal.aborted) return ended;
        const done = await endConnection(key, { actor: null, address: null, by }).catch((err: unknown) =>
          logger.warn(
            { err, server: key.server },
            'an unused account could not be ended; tried again in an hour',
          ),
        );
        if (done) ended += 1;
        else failed.add(JSON.stringify(key));
      }
    }
  }

  async function deleteOld(): Promise<void> {
    const deleted: Record<string, number> = {};
    const attempt = async (name: string, next: () => Promise<number>, isRepeated = true) => {
      try {
        for (let count = -1; count !== 0 && !stopping.signal.aborted;) {
          count = await next();
          if (count > 0) deleted[name] = (deleted[name] ?? 0) + count;
          if (!isRepeated) return;
        }
      } catch (err) {
        logger.warn({ err, step: name }, 'old data could not be deleted; tried again in an hour');
      }
    };
    for (const [name, ageMs, next] of steps)
      if (ageMs !== undefined) await attempt(name, () => next(now() - ageMs));
    // Last, because providers may not answer.
    if (connectionsMs !== undefined)
      await attempt('connections', () => endUnused(now() - connectionsMs), false);
    if (Object.keys(deleted).length > 0) logger.info({ deleted }, 'old data was deleted');
  }

  const loop = startLeasedLoop<never>(
    {
      name: 'old data to delete',
      everyMs,
      firstAfterMs: Math.random() * firstWithinMs,
      atOnce: 1,
      async claim() {
        await deleteOld();
        return [];
      },
      work: () => Promise.resolve(),
    },
    logger,
  );
  return {
    stop() {
      stopping.abort();
      return loop.stop();
    },
  };
}
