import { sql } from 'kysely';
import type { Selectable } from 'kysely';
import type { ConversationRef, Usage } from '../../turn/turn.ts';
import type { TurnRow } from '../ports/turns.ts';
import { fromJson } from '../schema.ts';
import type { Database } from '../database.ts';
import type { Tables } from '../schema.ts';

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

type Row = Selectable<Tables['turns']> & { input_tokens: number | null; output_tokens: number | null };

export function toTurn(row: Row): TurnRow {
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
}: Pick<Row, 'input_tokens' | 'output_tokens'>): Usage | null {
  return input_tokens === null || output_tokens === null
    ? null
    : { inputTokens: Number(input_tokens), outputTokens: Number(output_tokens) };
}
