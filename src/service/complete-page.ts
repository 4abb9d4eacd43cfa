/**
 * A tool has sent the user to a page, which now reports that it is done. The tool waits for this report, not for the user's
 * consent to open the page. The signature alone authenticates the report. A repeated report changes nothing.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Logger } from 'pino';
import type { Config } from '../platform/config/config.ts';
import type { Outcome } from '@interlude-ai/core/elicitation/elicitation.ts';
import type { AuditEntry, ElicitationRow } from '../storage/schema/question-tables.ts';
import type { Storage } from '../storage/storage.ts';
import { ServiceError } from './service-error.ts';

interface SignedReport {
  elicitationId: string;
  /** As received, unparsed. */
  body: Buffer;
  /** `t=<epoch seconds>,v1=<hex>`; several `v1` while a secret is being replaced. */
  signature: unknown;
}

interface PageReport extends SignedReport {
  /** Where it came from, for the audit. */
  address: string | null;
}

interface PageCompleted {
  kind: 'recorded';
  outcome: Outcome;
  duplicate: boolean;
}

interface Parts {
  storage: Storage;
  config: Pick<Config, 'agents' | 'secret'>;
  logger: Logger;
}

/** Null: the signature is missing, wrong or stale, or the question does not belong to this secret. */
export async function completePage(
  { storage, config, logger }: Parts,
  { address, ...report }: PageReport,
): Promise<PageCompleted | null> {
  const { elicitations } = storage;
  const row = await elicitations.get(report.elicitationId);
  const name = row && isToolPage(row) ? config.agents.get(row.agent)?.tools?.completionSecretEnv : undefined;
  const secret = name === undefined ? undefined : config.secret(name);
  // A wrong signature and an unknown question have the same result.
  const isSigned = isSignedReport(secret ?? '', report, storage.now());
  if (!row || !secret || !isSigned) {
    if (row)
      await storage.audit.record(
        entry(row, 'refused', 'completion of a page with a wrong signature', address),
      );
    if (name !== undefined)
      logger.warn(
        { elicitationId: report.elicitationId, agent: row?.agent, address },
        `a page reported with a wrong signature: it has to sign with the value of ${name}`,
      );
    return null;
  }
  if (row.status !== 'pending') return outcomeOf(row, true);
  const audit = entry(row, 'answered', 'page done', address);
  const [settled] = await elicitations.settle([row.id], { type: 'page-done' }, { audit });
  return settled ? outcomeOf(settled.question, false) : null;
}

/** The question sends its user to a page of the tool's author, which reports when it is done. */
function isToolPage({ request }: ElicitationRow): boolean {
  return request.mode === 'url' && request.context.trigger === 'tool_elicitation';
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

/** The maximal difference between the clocks, and age of a report. */
const toleranceMs = 5 * 60_000;

/** Fresh, about this question, and signed with the secret. Compares every signature, so that timing reveals nothing. */
export function isSignedReport(secret: string, report: SignedReport, now: number): boolean {
  const { elicitationId, body, signature } = report;
  if (typeof signature !== 'string' || signature.length > 1_000) return false;
  const parts = signature.split(',').map((part) => part.trim());
  const [time, ...times] = parts.flatMap((part) => /^t=(\d{1,12})$/.exec(part)?.[1] ?? []);
  if (time === undefined || times.length > 0) return false;
  const expected = createHmac('sha256', secret).update(`${time}.${elicitationId}.`).update(body).digest();
  const given = parts.flatMap((part) => /^v1=([0-9a-f]{64})$/i.exec(part)?.[1] ?? []);
  const isRight = given.filter((hex) => timingSafeEqual(expected, Buffer.from(hex, 'hex'))).length > 0;
  return isRight && Math.abs(now - Number(time) * 1000) <= toleranceMs;
}
