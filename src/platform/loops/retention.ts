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
/** Turns, or rows of the audit, of one transaction: a few hundred rows to a few thousand. */
const batch = { turns: 50, audit: 500, connections: 20 };

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

  /** Whole turns first, because nothing else has to be deleted of them then. */
  const steps: [name: string, ageMs: number | undefined, next: (before: number) => Promise<number>][] = [
    ['turns', messagesMs, (before) => retention.deleteTurns(before, batch.turns)],
    ['logs', logMs, (before) => retention.deleteOfTurns('log', before, batch.turns)],
    ['answers', answersMs, (before) => retention.deleteOfTurns('answers', before, batch.turns)],
    ['images', imagesMs, (before) => retention.deleteOfTurns('images', before, batch.turns)],
    ['state', stateMs, (before) => retention.deleteOfTurns('state', before, batch.turns)],
    ['audit', auditMs, (before) => retention.deleteAudit(before, batch.audit)],
    // Last, because providers may not answer.
    ['connections', connectionsMs, endUnused],
  ];

  async function endUnused(before: number): Promise<number> {
    const unused = await retention.unusedConnections(before, batch.connections);
    const by = ' (not used for a long time)';
    let ended = 0;
    for (const key of unused) if (await endConnection(key, { actor: null, address: null, by })) ended += 1;
    // Those that could not be ended are found again in an hour.
    return ended === unused.length ? ended : 0;
  }

  async function deleteOld(): Promise<void> {
    const deleted: Record<string, number> = {};
    try {
      await retention.deleteExpired();
      for (const [name, ageMs, next] of steps) {
        if (ageMs === undefined) continue;
        for (let count = -1; count !== 0 && !stopping.signal.aborted;) {
          count = await next(now() - ageMs);
          if (count > 0) deleted[name] = (deleted[name] ?? 0) + count;
        }
      }
    } finally {
      if (Object.keys(deleted).length > 0) logger.info({ deleted }, 'old data was deleted');
    }
  }

  const loop = startLeasedLoop<never>(
    {
      name: 'old data to delete',
      everyMs,
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
