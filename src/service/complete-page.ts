/**
 * A page to which a tool has sent the user reports that it is done: that, and not the user's consent to open it, is what
 * the tool waits for. Who reports is known by the signature alone. Delivery again, nothing changes.
 */
import type { Config } from '../config/config.ts';
import type { Outcome } from '../elicitation/elicitation.ts';
import type { ElicitationRow } from '../storage/ports/elicitations.ts';
import type { Storage } from '../storage/storage.ts';
import { isSignedReport } from './completion-signature.ts';
import type { SignedReport } from './completion-signature.ts';
import { ServiceError } from './service-error.ts';
import { isToolPage } from './tool-page.ts';
import type { TurnWorkflows } from './turn-workflows.ts';

export interface PageReport extends SignedReport {
  /** Where it came from, for the audit. */
  address: string | null;
}

export type PageCompleted =
  | { kind: 'recorded'; outcome: Outcome; duplicate: boolean }
  /** Durable, but no worker confirmed it in time. */
  | { kind: 'received' };

/** `null`: the signature is missing, wrong, stale, or of a question that is none of its secret's. */
export type CompletePage = (report: PageReport) => Promise<PageCompleted | null>;

interface Parts {
  storage: Pick<Storage, 'elicitations' | 'audit' | 'now'>;
  config: Pick<Config, 'agents' | 'secret'>;
  workflows: Pick<TurnWorkflows, 'signalPageDone'>;
}

/** How long a page waits for the workflow's word. */
const confirmWithinMs = 2_000;

export function createCompletePage({ storage, config, workflows }: Parts): CompletePage {
  const { elicitations } = storage;

  return async ({ address, ...report }) => {
    const row = await elicitations.get(report.elicitationId);
    const secret = row && isToolPage(row) ? secretFor(row) : undefined;
    // Whether there is such a question, nobody learns who cannot sign for it.
    const isSigned = isSignedReport(secret ?? '', report, storage.now());
    if (!row || !secret || !isSigned) {
      if (row) await audit(row, 'refused', 'completion of a page with a wrong signature', address);
      return null;
    }
    if (row.status !== 'pending') return outcomeOf(row, true);
    const delivery = await workflows.signalPageDone(row);
    if (delivery === 'gone') await elicitations.settle(row.id, 'cancel', null);
    const [settled] = await Promise.all([
      elicitations.untilSettled(row, AbortSignal.timeout(confirmWithinMs)),
      audit(row, 'answered', 'page done', address),
    ]);
    return settled ? outcomeOf(settled, false) : { kind: 'received' };
  };

  function secretFor({ agent }: ElicitationRow): string | undefined {
    const name = config.agents.get(agent)?.tools?.completionSecretEnv;
    return name === undefined ? undefined : config.secret(name);
  }

  function audit(
    { tenant, id: elicitationId }: ElicitationRow,
    action: 'answered' | 'refused',
    detail: string,
    address: string | null,
  ): Promise<void> {
    return storage.audit.record({
      at: Date.now(),
      tenant,
      elicitationId,
      actor: null,
      action,
      detail,
      address,
    });
  }
}

function outcomeOf({ status, because }: ElicitationRow, duplicate: boolean): PageCompleted {
  switch (status) {
    case 'accept':
      return { kind: 'recorded', outcome: status, duplicate };
    case 'decline':
      throw new ServiceError('already_answered', 'The user has refused.', { outcome: status });
    case 'expired':
      throw new ServiceError('expired', 'The tool did not wait this long.');
    case 'cancel':
      throw new ServiceError(
        'turn_over',
        because === null ? 'The question was closed.' : 'Whoever asked is gone.',
      );
    case 'pending':
      return { kind: 'received' };
    default:
      return status satisfies never;
  }
}
