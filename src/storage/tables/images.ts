import type { Transaction } from 'kysely';
import { chunks } from '../log/append.ts';
import type { Images, NewImage } from '../ports/images.ts';
import type { Database } from '../database.ts';
import type { Tables } from '../schema.ts';

export function createImages({ query }: Pick<Database, 'query'>): Images {
  return {
    async read(names) {
      const found = [];
      for (const chunk of chunks(names)) {
        const rows = await query
          .selectFrom('images')
          .select(['turn_id', 'digest', 'data'])
          .where((row) =>
            row.or(
              chunk.map(({ turnId, digest }) =>
                row.and([row('turn_id', '=', turnId), row('digest', '=', digest)]),
              ),
            ),
          )
          .execute();
        found.push(...rows.map(({ turn_id: turnId, digest, data }) => ({ turnId, digest, data })));
      }
      return found;
    },
  };
}

/** To be called in the transaction that writes the turn. */
export async function insertImages(
  write: Transaction<Tables>,
  turnId: string,
  images: NewImage[],
): Promise<void> {
  // One at a time: each may have megabytes.
  for (const { digest, data } of images) {
    await write
      .insertInto('images')
      .values({ turn_id: turnId, digest, data })
      .onConflict((conflict) => conflict.columns(['turn_id', 'digest']).doNothing())
      .execute();
  }
}
