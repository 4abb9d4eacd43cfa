/**
 * A page to which a tool has sent the user reports that it is done: that, and not the user's consent to open it, is what
 * the tool waits for. The signature alone authenticates the report. A repetition changes nothing.
 */
import type { Config } from '../config/config.ts';
import type { Outcome } from '../elicitation/elicitation.ts';
import type { AuditEntry } from '../storage/ports/audit.ts';
import type { ElicitationRow } from '../storage/ports/elicitations.ts';
import type { Storage } from '../storage/storage.ts';
import { isSignedReport } from './completion-signature.ts';
import type { SignedReport } from './completion-signature.ts';
import { ServiceError } from './service-error.ts';
import { isToolPage } from './tool-page.ts';

export interface PageReport extends SignedReport {
  /** Where it came from, for the audit. */
  address: string | null;
}

export interface PageCompleted {
  kind: 'recorded';
  outcome: Outcome;
  duplicate: boolean;
}

/** `null`: the signature is missing, wrong, stale, or of a question that is none of its secret's. */
export type CompletePage = (report: PageReport) => Promise<PageCompleted | null>;

interface Parts {
  storage: Pick<Storage, 'elicitations' | 'audit' | 'now'>;
  config: Pick<Config, 'agents' | 'secret'>;
}

export function createCompletePage({ storage, config }: Parts): CompletePage {
  const { elicitations } = storage;

  return async ({ address, ...report }) => {
    const row = await elicitations.get(report.elicitationId);
    const secret = row && isToolPage(row) ? secretFor(row) : undefined;
    // The same result for a wrong signature and for no such question.
    const isSigned = isSignedReport(secret ?? '', report, storage.now());
    if (!row || !secret || !isSigned) {
      if (row)
        await storage.audit.record(
          entry(row, 'refused', 'completion of a page with a wrong signature', address),
        );
      return null;
    }
    if (row.status !== 'pending') return outcomeOf(row, true);
    const audit = entry(row, 'answered', 'page done', address);
    const [settled] = await elicitations.settle([row.id], { type: 'page-done' }, { audit });
    return settled ? outcomeOf(settled.question, false) : null;
  };

  function secretFor({ agent }: ElicitationRow): string | undefined {
    const name = config.agents.get(agent)?.tools?.completionSecretEnv;
    return name === undefined ? undefined : config.secret(name);
  }
}

function entry(
  { tenant, id: elicitationId }: ElicitationRow,
  action: 'answered' | 'refused',
  detail: string,
  address: string | null,
): AuditEntry {
  return { at: Date.now(), tenant, elicitationId, actor: null, action, detail, address };
}

function outcomeOf({ id, status, because }: ElicitationRow, duplicate: boolean): PageCompleted {
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
        because === null ? 'The question was closed.' : 'The server that asked is gone.',
      );
    case 'pending':
      throw new Error(`Question ${id} is still open although its page is done.`);
    default:
      return status satisfies never;
  }
}
