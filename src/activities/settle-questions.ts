/** Writes down what became of questions. Doing it again, or beside somebody else, changes nothing. */
import type { Logger } from 'pino';
import type { Settlement } from '../elicitation/elicitation.ts';
import type { ElicitationRow } from '../storage/ports/elicitations.ts';
import type { Storage } from '../storage/storage.ts';
import { questionSettled } from '../telemetry/events.ts';

export type Settle = (outcomes: Settlement[]) => Promise<void>;

interface Dependencies {
  storage: { elicitations: Pick<Storage['elicitations'], 'settleAll'> };
  logger: Logger;
}

export function createSettle({ storage, logger }: Dependencies): Settle {
  return async (outcomes) => {
    if (outcomes.length > 0) logSettled(logger, await storage.elicitations.settleAll(outcomes));
  };
}

export function logSettled(logger: Logger, questions: ElicitationRow[]): void {
  for (const { id: elicitationId, turnId, status, createdAt: askedAt } of questions)
    if (status !== 'pending') questionSettled(logger, { elicitationId, turnId, outcome: status, askedAt });
}
