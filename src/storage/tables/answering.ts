/** Records an answer and what follows from it, in one transaction. */
import type { Kysely, Transaction } from 'kysely';
import { toColumns } from '../columns.ts';
import { compileOnce } from '../database.ts';
import type { Database } from '../database.ts';
import { writeToConversation } from '../log/append.ts';
import type { AuditEntry, ElicitationRow, AnswerSurface } from '../schema/question-tables.ts';
import type { Row, Tables } from '../schema.ts';
import { findRow } from '../statements.ts';
import { insertAudit } from './audit.ts';
import { deletedContent } from './retention.ts';
import { consentOf } from './elicitation-rows.ts';
import { advanced, announceSettled, lockQuestions, nothingSettled, writeSettled } from './settling.ts';
import type { Settled } from './settling.ts';
import type { Action } from '@interlude-ai/core/elicitation/elicitation.ts';

export interface Answer {
  responseId: string;
  action: Action;
  /** Sealed by the caller. */
  sealedContent: string | null;
  /** It had content, which was deleted after its retention. */
  isDeleted?: true;
  receivedAt: number;
  /** Where it was given; absent: unknown. */
  surface?: AnswerSurface;
}

type Write = Transaction<Tables>;
type Given = Answer & { user: string };

export interface Answered {
  /** As it is afterwards. */
  question: ElicitationRow;
  isOverdue: boolean;
  isNew: boolean;
  /** The answer that was recorded before under this response id. */
  earlier: Answer | null;
  /** The answer that settled the question. */
  winner: Answer | null;
}

const insertAnswer = compileOnce((write, row: Row<'elicitation_answers'>) =>
  write
    .insertInto('elicitation_answers')
    .values({ ...row })
    .onConflict((conflict) => conflict.columns(['elicitation_id', 'response_id']).doNothing())
    .compile(),
);
const updateConsent = compileOnce((write, { id, consent }: { id: string; consent: string | null }) =>
  write.updateTable('elicitations').set({ consent }).where('id', '=', id).compile(),
);
const selectConnected = compileOnce(
  (write, of: { tenant: string; server: string | null; user: string; seenVersion: number }) =>
    write
      .selectFrom('connections')
      .select('version')
      .where('tenant', '=', of.tenant)
      .where('server', '=', of.server)
      .where('user_id', 'in', [of.user, ''])
      .where('status', '=', 'active')
      .where('version', '>', of.seenVersion)
      .orderBy('version', 'desc')
      .compile(),
);

export function createAnswer(database: Database) {
  return async (id: string, answer: Given, audit: AuditEntry): Promise<Answered | null> => {
    const done = await database.query
      .transaction()
      .execute((write) => answerQuestion(database, write, id, answer, audit));
    if (!done) return null;
    const { settled, isConsent, ...answered } = done;
    announceSettled(database, settled);
    if (isConsent) database.notifications.announce(answered.question);
    return answered;
  };
}

async function answerQuestion(
  { now, timeIn }: Database,
  write: Write,
  id: string,
  answer: Given,
  audit: AuditEntry,
): Promise<(Answered & { settled: Settled; isConsent: boolean }) | null> {
  const [locked] = await lockQuestions(write, [id]);
  if (!locked) return null;
  const nothing = { settled: nothingSettled, isConsent: false, isNew: false };
  const { responseId, action } = answer;
  if (locked.status !== 'pending') {
    const earlier = await recordedAnswer(write, id, responseId);
    const winner = await winnerOf(write, locked, earlier);
    return { ...nothing, question: locked, isOverdue: false, earlier, winner };
  }
  const isOverdue = locked.deadline <= (await timeIn(write));
  if (isOverdue || answer.user !== locked.user) {
    const earlier = await recordedAnswer(write, id, responseId);
    return { ...nothing, question: locked, isOverdue, earlier, winner: null };
  }

  const at = now();
  const isNew = await insertNew(write, id, answer);
  const earlier = isNew ? null : await recordedAnswer(write, id, responseId);
  const { user } = answer;
  let question = isNew ? advanced(locked, { type: 'answered', responseId, action, user }, at) : locked;
  if (question.status === 'pending' && question.server !== null && (earlier ?? answer).action === 'accept') {
    const { tenant, server, seenVersion } = question;
    const { rows } = await selectConnected(write, { tenant, server, user, seenVersion: seenVersion ?? 0 });
    const [connection] = rows;
    if (connection) question = advanced(question, { type: 'connected', server, ...connection }, at);
  }
  const isConsent = question.consent !== locked.consent && question.status === 'pending';
  if (isConsent) await updateConsent(write, { id, consent: question.consent });
  // On the log, because the question stays open while its user is on the page.
  const isOnPage = isConsent && locked.isReported;
  if (isOnPage) await writeToConversation(write, locked, { events: [consentOf(locked)] }, at);
  if (isNew) await insertAudit(write, audit);
  const isSettled = question.status !== 'pending';
  const settled = await writeSettled(write, isSettled ? [question] : [], { at });
  const winner = isSettled ? await winnerOf(write, question, earlier ?? answer) : null;
  return { question, isOverdue, isNew, earlier, winner, settled, isConsent: isOnPage };
}

async function insertNew(
  write: Write,
  elicitationId: string,
  { responseId, action, sealedContent, receivedAt, surface }: Given,
): Promise<boolean> {
  const values = { elicitationId, responseId, action, sealedContent, receivedAt };
  const row = { ...toColumns(values), surface: surface ?? null };
  const { numAffectedRows } = await insertAnswer(write, row);
  return Number(numAffectedRows) > 0;
}

/** The answer that settled the question; often this one. */
async function winnerOf(
  write: Write,
  { id, responseId }: ElicitationRow,
  known: Answer | null,
): Promise<Answer | null> {
  if (responseId === null) return null;
  return known?.responseId === responseId ? toAnswer(known) : recordedAnswer(write, id, responseId);
}

function toAnswer({ responseId, action, sealedContent, isDeleted, receivedAt, surface }: Answer): Answer {
  return {
    responseId,
    action,
    sealedContent,
    ...(isDeleted && { isDeleted }),
    receivedAt,
    ...(surface && { surface }),
  };
}

export async function recordedAnswer(
  query: Kysely<Tables>,
  elicitationId: string,
  responseId: string,
): Promise<Answer | null> {
  const key = { elicitation_id: elicitationId, response_id: responseId };
  const row = await findRow(query, 'elicitation_answers', key);
  if (!row) return null;
  const { action, sealed_content: sealed, received_at: receivedAt, surface } = row;
  const isDeleted = sealed === deletedContent;
  return {
    responseId,
    action,
    sealedContent: isDeleted ? null : sealed,
    ...(isDeleted && { isDeleted }),
    receivedAt,
    ...(surface !== null && { surface }),
  };
}
