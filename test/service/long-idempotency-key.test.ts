/** Keys that clients choose, as long as a header may be: an index of PostgreSQL takes 2,704 bytes. */
import { expect, test } from 'vitest';
import { identify } from '../../src/service/start-turn.ts';
import type { IdempotencyKeys } from '../../src/storage/tables/idempotency-keys.ts';

async function keptAs(key: string): Promise<string> {
  let kept = '';
  const claim: IdempotencyKeys['claim'] = async (use) => {
    kept = use.key;
    return use;
  };
  const request = { messages: [], repetition: { kind: 'named', key } } as unknown as Parameters<
    typeof identify
  >[1];
  await identify({ claim } as IdempotencyKeys, request, { kind: 'user', tenant: 'acme', user: 'alice' });
  return kept;
}

test('a long key is kept as its digest, and stays another than every other', async () => {
  const long = 'x'.repeat(16_000);
  expect((await keptAs(long)).length).toBeLessThan(200);
  expect(await keptAs(long)).toBe(await keptAs(long));
  expect(await keptAs(long)).not.toBe(await keptAs(`${long}y`));
});

test('a short one is kept as it is', async () => {
  expect(await keptAs('my-key')).toBe('key my-key');
});
