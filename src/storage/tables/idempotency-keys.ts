import type { TurnOwner } from '../../turn/turn.ts';
import { fromColumns, toColumns } from '../columns.ts';
import type { Database } from '../database.ts';

/** The use of an `Idempotency-Key`: always the same message in the same conversation. */
interface KeyUse extends TurnOwner {
  key: string;
  /** Of the request, to notice that the key came with another one. */
  fingerprint: string;
  conversation: string;
  clientMessageId: string;
}

/** How long clients may repeat a request. */
const keptMs = 24 * 60 * 60 * 1000;

export type IdempotencyKeys = ReturnType<typeof createIdempotencyKeys>;

export function createIdempotencyKeys({ query, now }: Database) {
  return {
    /**
     * The first use of a key counts, and is returned. An earlier use counts for `withinMs` (a day at most, and by default);
     * with `isNew` it does not count.
     */
    claim: (
      use: KeyUse,
      { isNew = false, withinMs = keptMs }: { isNew?: boolean; withinMs?: number } = {},
    ): Promise<KeyUse> =>
      query.transaction().execute(async (write) => {
        const at = now();
        const values = { ...rowOf(use), created_at: at };
        const { tenant, user_id, key, fingerprint, conversation, client_message_id } = values;
        await write
          .deleteFrom('idempotency_keys')
          .where((row) =>
            row.or([
              row('created_at', '<', at - keptMs),
              row.and([row.and({ tenant, user_id, key }), row('created_at', '<', at - withinMs)]),
            ]),
          )
          .execute();
        const inserted = write.insertInto('idempotency_keys').values(values);
        const row = await inserted
          .onConflict((conflict) =>
            conflict
              .columns(['tenant', 'user_id', 'key'])
              // This update locks the row, and so waits for another request that is claiming the key.
              .doUpdateSet((known) =>
                isNew
                  ? { fingerprint, conversation, client_message_id, created_at: at }
                  : { created_at: known.ref('idempotency_keys.created_at') },
              ),
          )
          .returning(['fingerprint', 'conversation', 'client_message_id'])
          .executeTakeFirstOrThrow();
        return { ...use, ...fromColumns(row) };
      }),
  };
}

function rowOf({ tenant, user, service, key, fingerprint, conversation, clientMessageId }: KeyUse) {
  // Names of services contain no spaces.
  const ownKey = service ? `service ${service} ${key}` : key;
  return toColumns({ tenant, user: user ?? '', key: ownKey, fingerprint, conversation, clientMessageId });
}
