import type { Kysely } from 'kysely';
import { isConversation } from '../log/append.ts';
import { columnOf } from './delegation.ts';
import { compileOnce } from '../compile-once.ts';
import type { ConversationRef } from '../../turn/turn.ts';
import type { Messages } from '../ports/conversations.ts';
import { fromJson } from '../schema.ts';
import type { Database } from '../database.ts';
import type { Tables } from '../schema.ts';

const selectOwn = compileOnce((query, ref: ConversationRef) =>
  selectIn(query, ref).where('delegation', 'is', null).compile(),
);
const selectDelegated = compileOnce((query, ref: ConversationRef & { turnId: string; delegation: string }) =>
  selectIn(query, ref).where('turn_id', '=', ref.turnId).where('delegation', '=', ref.delegation).compile(),
);

function selectIn(query: Kysely<Tables>, ref: ConversationRef) {
  return query
    .selectFrom('messages')
    .select(['id', 'turn_id', 'role', 'content', 'left_out'])
    .where(isConversation(ref))
    .orderBy('position');
}

export function createMessages({ query }: Database): Messages {
  return {
    async list(ref) {
      const { rows } =
        'turnId' in ref && ref.delegation
          ? await selectDelegated(query, { ...ref, delegation: columnOf(ref) ?? '' })
          : await selectOwn(query, ref);
      return rows.map(({ id, turn_id, role, content, left_out }) => ({
        id,
        turnId: turn_id,
        role,
        content: fromJson(content),
        ...(left_out !== null && { leftOut: left_out }),
      }));
    },
  };
}
