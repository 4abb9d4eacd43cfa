import type { IdempotencyKeys, KeyUse } from '../ports/idempotency-keys.ts';
import type { Database } from '../database.ts';

/** As long as clients may go on repeating a request. */
const keptMs = 24 * 60 * 60 * 1000;

export function createIdempotencyKeys({ query, now }: Database): IdempotencyKeys {
  return {
    claim: (use, { isNew = false, withinMs = keptMs } = {}) =>
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
              // Writing what is there locks the row, and so waits for whoever is just claiming the key.
              .doUpdateSet((known) =>
                isNew
                  ? { fingerprint, conversation, client_message_id, created_at: at }
                  : { created_at: known.ref('idempotency_keys.created_at') },
              ),
          )
          .returning(['fingerprint', 'conversation', 'client_message_id'])
          .executeTakeFirstOrThrow();
        return {
          ...use,
          fingerprint: row.fingerprint,
          conversation: row.conversation,
          clientMessageId: row.client_message_id,
        };
      }),
  };
}

function rowOf({ tenant, user, service, key, fingerprint, conversation, clientMessageId }: KeyUse) {
  return {
    tenant,
    user_id: user ?? '',
    // The names of services have no spaces.
    key: service ? `service ${service} ${key}` : key,
    fingerprint,
    conversation,
    client_message_id: clientMessageId,
  };
}
