/**
 * What an operator reads in the log: one line per turn and per question, at its start and at its end. Ids, names
 * and durations only; never what anybody said.
 */
import type { Logger } from 'pino';
import type { Outcome } from '../elicitation/elicitation.ts';
import type { Ask } from '../turn/ask.ts';
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

export function questionOpened(
  logger: Logger,
  { ask, ...ids }: { elicitationId: string; turnId: string; user: string; ask: Ask },
): void {
  const { fields, words } = describe(ask);
  logger.info({ ...ids, ...fields }, `turn ${short(ids.turnId)} waits: ${ids.user} ${words}`);
}

function describe(ask: Ask): { fields: Record<string, string>; words: string } {
  const { server } = ask;
  switch (ask.kind) {
    case 'connection': {
      const { reason } = ask;
      return { fields: { server, connection: reason }, words: `is asked to connect ${server} (${reason})` };
    }
    case 'server': {
      const { tool, mode } = ask;
      return { fields: { server, tool, mode }, words: `is asked by ${server} (${tool}, ${mode})` };
    }
    default:
      return ask satisfies never;
  }
}

export function questionSettled(
  logger: Logger,
  settled: { elicitationId: string; turnId: string; outcome: Outcome; askedAt: number },
): void {
  const { askedAt, ...ids } = settled;
  const ms = Date.now() - askedAt;
  logger.info(
    { ...ids, ms },
    `turn ${short(settled.turnId)} goes on: question ended with ${settled.outcome}${after(ms)}`,
  );
}

function short(turnId: string): string {
  return turnId.slice(0, 8);
}

function after(ms: number | undefined): string {
  return ms === undefined ? '' : ` after ${(ms / 1000).toFixed(1)} s`;
}
