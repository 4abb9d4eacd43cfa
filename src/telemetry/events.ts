/**
 * What an operator reads in the log of a turn: one line at its start and one at its end. Ids, names and durations only;
 * never what anybody said.
 */
import type { Logger } from 'pino';
import type { Turn, TurnEndStatus } from '../turn/turn.ts';

export function turnStarted(logger: Logger, { turnId, tenant, conversation, agent, user }: Turn): void {
  logger.info(
    { turnId, tenant, conversation, agent, user },
    `turn ${short(turnId)} started: ${agent} for ${user ?? 'a service'}`,
  );
}

export function turnEnded(
  logger: Logger,
  turn: Turn,
  {
    status,
    code,
    startedAt,
  }: { status: TurnEndStatus; code: string | undefined; startedAt: number | undefined },
): void {
  const { turnId } = turn;
  const ms = startedAt === undefined ? undefined : Date.now() - startedAt;
  const why = code === undefined ? '' : ` (${code})`;
  logger.info({ turnId, status, code, ms }, `turn ${short(turnId)} ${status}${why}${after(ms)}`);
}

/** Enough of the id to find the other lines of a turn by eye. */
export function short(turnId: string): string {
  return turnId.slice(0, 8);
}

export function after(ms: number | undefined): string {
  return ms === undefined ? '' : ` after ${(ms / 1000).toFixed(1)} s`;
}
