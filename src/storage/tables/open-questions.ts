/** The open questions of one user, in all conversations, and their changes. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Kysely } from 'kysely';
import type { Logger } from 'pino';
import { isOneOf } from '../database.ts';
import type { Database } from '../database.ts';
import { chunks } from '../log/append.ts';
import type { AskedUser } from '../notifications/notifications.ts';
import { unlessAborted } from '../notifications/notifications.ts';
import type { ElicitationRow } from '../schema/question-tables.ts';
import type { Tables } from '../schema.ts';
import { toElicitation } from './elicitation-rows.ts';

/** The user who is asked. */
export interface AskedOf {
  tenant: string;
  user: string;
}

/** More than a user usually may have open. Beyond it, only the newest are seen. */
const mostOpenQuestions = 100;
const retryMs = 1_000;

/** Newest first, without those whose deadline has passed, even if they are not closed yet. */
export async function openQuestionsOf(
  { query, now }: Database,
  { tenant, user }: AskedOf,
): Promise<ElicitationRow[]> {
  const rows = await query
    .selectFrom('elicitations')
    .selectAll()
    .where(({ and }) => and({ tenant, user_id: user, status: 'pending' }))
    .where('deadline', '>', now())
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(mostOpenQuestions)
    .execute();
  return rows.map(toElicitation);
}

/**
 * Batches of changes: first all open questions, possibly none. Continues after an outage of the database. A question that
 * opens and closes between two reads is left out.
 */
export async function* followQuestionsOf(
  database: Database,
  asked: AskedOf,
  signal: AbortSignal,
  logger: Logger,
): AsyncGenerator<ElicitationRow[]> {
  const { notifications } = database;
  const subscription = notifications.subscribe({ tenant: asked.tenant, askedUser: asked.user });
  const reported = new Set<string>();
  let isFirst = true;
  try {
    while (!signal.aborted && !notifications.closed) {
      subscription.reset();
      const changes = await changesSince(database, asked, reported).catch((error: unknown) => {
        if (!notifications.closed)
          logger.warn({ err: error }, 'cannot read the questions to a user; trying again');
        return null;
      });
      for (const { id, status } of changes ?? []) {
        if (status === 'pending') reported.add(id);
        else reported.delete(id);
      }
      if (changes && (isFirst || changes.length > 0)) yield changes;
      isFirst &&= changes === null;
      if (changes) await unlessAborted(subscription.notified(), signal);
      else await sleep(retryMs, undefined, { signal, ref: false }).catch(() => undefined);
    }
  } finally {
    subscription.close();
  }
}

/** Oldest first: those that were settled, then those that were opened. */
async function changesSince(
  database: Database,
  asked: AskedOf,
  reported: ReadonlySet<string>,
): Promise<ElicitationRow[]> {
  const open = await openQuestionsOf(database, asked);
  const stillOpen = new Set(open.map(({ id }) => id));
  const gone = [...reported].filter((id) => !stillOpen.has(id));
  const opened = open.toReversed().filter(({ id }) => !reported.has(id));
  if (gone.length === 0) return opened;
  const settled = await database.query
    .selectFrom('elicitations')
    .selectAll()
    .where(isOneOf(database.query, 'id', gone))
    .where('status', '!=', 'pending')
    .orderBy('settled_at')
    .execute();
  return [...settled.map(toElicitation), ...opened];
}

/** A text for each user that differs when other questions are open. */
export async function openQuestionIds(
  query: Kysely<Tables>,
  users: AskedUser[],
): Promise<(AskedUser & { open: string })[]> {
  const answers: (AskedUser & { open: string })[] = [];
  for (const chunk of chunks(users)) {
    const rows = await query
      .selectFrom('elicitations')
      .select(['id', 'tenant', 'user_id'])
      .where('status', '=', 'pending')
      .where(({ or, and }) => or(chunk.map(({ tenant, askedUser }) => and({ tenant, user_id: askedUser }))))
      .orderBy('id')
      .execute();
    for (const { tenant, askedUser } of chunk) {
      const own = rows.filter((row) => row.tenant === tenant && row.user_id === askedUser);
      answers.push({ tenant, askedUser, open: own.map(({ id }) => id).join(' ') });
    }
  }
  return answers;
}
