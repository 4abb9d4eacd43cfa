import { expect, test } from 'vitest';
import { rawQueryOf } from '../../../src/api/pages/context.ts';

test.each([
  ['/auth/callback?code=a%3D1&state=s', 'code=a%3D1&state=s'],
  ['/auth/callback?code=4/0?x&state=s', 'code=4/0?x&state=s'],
  ['/auth/callback', ''],
])('the query of %s is kept as it came', (url, query) => {
  expect(rawQueryOf({ url })).toBe(query);
});
