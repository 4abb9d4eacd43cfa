import { sql } from 'kysely';
import type { ConversationRef, Usage, TurnOwner, Turn, TurnRef, TurnStatus } from '../../turn/turn.ts';
import { fromColumns } from '../columns.ts';
import { fromJson } from '../schema.ts';
import { isPostgres } from '../database.ts';
import type { Database } from '../database.ts';
import type { Row } from '../schema.ts';

export interface TurnRow extends Turn, TurnOwner {
  status: TurnStatus;
  /** The id the client gave its message; the same id twice joins the first turn. */
  clientMessageId: string;
  createdAt: number;
  /** When it began to stop. */
  endingAt: number | null;
  endedAt: number | null;
  /** The version of the workflow code that it started with; '': Temporal chose it; null: a release without versions started it. */
  buildId: string | null;
  usage: Usage | null;
}

/** Which of an owner's turns are listed. */
export interface TurnFilter {
  agent?: string;
  conversation?: string | undefined;
  statuses?: TurnStatus[] | undefined;
  /** Changed at this time or later, in epoch milliseconds. */
  since?: number | undefined;
}

/** The last turn of the previous page. */
export interface TurnPosition {
  changedAt: number;
  turnId: string;
}

/** `dueAt`: when it is next looked after, unless something happens to it before. */
export interface DueTurn extends TurnRef {
  status: TurnStatus;
  createdAt: number;
  dueAt: number;
}

/** Of one conversation, of a tenant, or of all. */
export function selectTurns(query: Database['query'], { tenant, conversation }: Partial<ConversationRef>) {
  const tokens = (column: 'input_tokens' | 'output_tokens') =>
    sql<
      number | null
    >`(select sum(${sql.ref(column)}) from turn_steps where turn_steps.turn_id = turns.turn_id)`;
  return query
    .selectFrom('turns')
    .selectAll('turns')
    .select([tokens('input_tokens').as('input_tokens'), tokens('output_tokens').as('output_tokens')])
    .$if(tenant !== undefined, (turns) => turns.where('turns.tenant', '=', tenant ?? ''))
    .$if(conversation !== undefined, (turns) => turns.where('turns.conversation', '=', conversation ?? ''));
}

type StoredTurn = Row<'turns'> & { input_tokens: number | null; output_tokens: number | null };

export function toTurn(row: StoredTurn): TurnRow {
  return {
    tenant: row.tenant,
    conversation: row.conversation,
    turnId: row.turn_id,
    agent: row.agent,
    user: row.user_id,
    service: row.service,
    capabilities: fromJson(row.capabilities),
    status: row.status,
    clientMessageId: row.client_message_id,
    createdAt: row.created_at,
    endingAt: row.ending_at,
    endedAt: row.ended_at,
    buildId: row.build_id,
    usage: usageOf(row),
  };
}

export function usageOf({
  input_tokens,
  output_tokens,
}: Pick<StoredTurn, 'input_tokens' | 'output_tokens'>): Usage | null {
  return input_tokens === null || output_tokens === null
    ? null
    : { inputTokens: Number(input_tokens), outputTokens: Number(output_tokens) };
}

const changedAt = sql<number>`coalesce(ended_at, created_at)`;

export async function listTurns(
  query: Database['query'],
  { tenant, user, service = null }: TurnOwner,
  { agent, conversation, statuses, since }: TurnFilter,
  { after, limit }: { after: TurnPosition | null; limit: number },
): Promise<{ rows: TurnRow[]; total: number }> {
  const matching = selectTurns(query, { tenant, ...(conversation !== undefined && { conversation }) })
    .where('user_id', user === null ? 'is' : '=', user)
    .where('service', service === null ? 'is' : '=', service)
    .$if(agent !== undefined, (turns) => turns.where('agent', '=', agent ?? ''))
    .$if(statuses !== undefined, (turns) => turns.where('status', 'in', statuses ?? []))
    .$if(since !== undefined, (turns) => turns.where(changedAt, '>=', since ?? 0));
  const rows = await matching
    .$if(after !== null, (older) =>
      older.where(
        sql<boolean>`(coalesce(ended_at, created_at), turns.turn_id) < (${after?.changedAt ?? 0}, ${after?.turnId ?? ''})`,
      ),
    )
    .orderBy(changedAt, 'desc')
    .orderBy('turns.turn_id', 'desc')
    .limit(limit)
    .execute();
  const { total } = await matching
    .clearSelect()
    .select(sql<number>`count(*)`.as('total'))
    .executeTakeFirstOrThrow();
  return { rows: rows.map(toTurn), total: Number(total) };
}

/** Longer than the start of a turn is tried. */
const startMs = 30_000;
/** Turns that end sooner are never claimed. */
const beginMs = 5_000;
/** The process that ends a turn merges it at once. */
const mergeMs = 30_000;

export const dueAfter = {
  prepare: (now: number) => ({ due_at: now + startMs }),
  begin: (now: number) => ({ due_at: now + beginMs }),
  end: (now: number) => ({ due_at: now + mergeMs }),
  merge: { due_at: null },
};

/**
 * Turns to look after: one that has not ended may have lost its workflow, one that has ended may not be merged yet. `due_at` is
 * a lease: a claim moves it, so that processes never reconcile the same turn at once, and the claim of a dead process runs out.
 */
export async function claimDueTurns(
  { query, now }: Database,
  limit: number,
  againMs: number,
  longestMs?: number,
): Promise<DueTurn[]> {
  const at = now();
  const rows = await query
    .updateTable('turns')
    .set({ due_at: at + againMs })
    .where('turn_id', 'in', (row) =>
      row
        .selectFrom('turns')
        .select('turn_id')
        .where('due_at', '<=', at)
        .$if(longestMs !== undefined, (due) =>
          due.where('ended_at', 'is', null).where('created_at', '<=', at - (longestMs ?? 0)),
        )
        .orderBy('due_at')
        .limit(limit)
        .$if(isPostgres(query), (due) => due.forNoKeyUpdate().skipLocked()),
    )
    .returning(['tenant', 'conversation', 'turn_id', 'status', 'created_at', 'due_at'])
    .execute();
  return rows.map((row) => ({ ...fromColumns(row), dueAt: row.due_at ?? at }));
}
