import type { Selectable } from 'kysely';
import type { ConversationRow } from '../ports/conversations.ts';
import type { Tables } from '../schema.ts';

export const conversationColumns = [
  'tenant',
  'conversation',
  'user_id',
  'service',
  'agent',
  'created_at',
  'updated_at',
] as const;

type Row = Pick<Selectable<Tables['conversations']>, (typeof conversationColumns)[number]>;

export function toConversationRow(row: Row): ConversationRow {
  return {
    tenant: row.tenant,
    conversation: row.conversation,
    user: row.user_id,
    service: row.service,
    agent: row.agent,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
