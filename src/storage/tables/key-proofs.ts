import type { KeyProofs } from '../ports/key-proofs.ts';
import type { Database } from '../database.ts';

export function createKeyProofs({ query, now }: Database): KeyProofs {
  return {
    all: () =>
      query.selectFrom('key_proofs').select(['key_id as keyId', 'proof']).orderBy('key_id').execute(),
    async add({ keyId, proof }) {
      const { numInsertedOrUpdatedRows } = await query
        .insertInto('key_proofs')
        .values({ key_id: keyId, proof, created_at: now() })
        .onConflict((conflict) => conflict.column('key_id').doNothing())
        .executeTakeFirst();
      return (numInsertedOrUpdatedRows ?? 0n) > 0n;
    },
    async remove({ keyId, proof }) {
      await query.deleteFrom('key_proofs').where('key_id', '=', keyId).where('proof', '=', proof).execute();
    },
  };
}
