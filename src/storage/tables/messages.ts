import { isConversation } from '../log/append.ts';
import { columnOf } from './delegation.ts';
import type { Messages } from '../ports/conversations.ts';
import { fromJson } from '../schema.ts';
import type { Database } from '../database.ts';

export function createMessages({ query }: Database): Messages {
  return {
    async list(ref) {
      const all = query.selectFrom('messages').select(['id', 'turn_id', 'role', 'content']);
      const own =
        'turnId' in ref && ref.delegation
          ? all.where('turn_id', '=', ref.turnId).where('delegation', '=', columnOf(ref))
          : all.where('delegation', 'is', null);
      const rows = await own.where(isConversation(ref)).orderBy('position').execute();
      return rows.map(({ id, turn_id, role, content }) => ({
        id,
        turnId: turn_id,
        role,
        content: fromJson(content),
      }));
    },
  };
}
