/** The old era's refusal of a call until the user has been to some pages (`-32042`). */
import { expect, test } from 'vitest';
import { readRequiredPages } from '@interlude-ai/core/mcp/legacy-messages.ts';

const all = { form: true, url: true };
const sheet = (elicitationId: string, url = 'https://example.com/a', more: object = {}) => ({
  mode: 'url',
  elicitationId,
  url,
  message: `Open ${elicitationId}`,
  ...more,
});

test('each page is a question under its own id, and the call is made again without answers', () => {
  const read = readRequiredPages({ elicitations: [sheet('a'), sheet('b', 'https://example.com/b')] }, all);
  expect(read).toMatchObject({
    kind: 'pause',
    pause: {
      questions: [
        { key: 'a', request: { mode: 'url', message: 'Open a', url: 'https://example.com/a' } },
        { key: 'b', request: { mode: 'url', message: 'Open b', url: 'https://example.com/b' } },
      ],
      resume: { kind: 'again' },
    },
  });
});

test('a page that does not say that it is one still is', () => {
  const { mode, ...rest } = sheet('a');
  expect(mode).toBe('url');
  expect(readRequiredPages({ elicitations: [rest] }, all)).toMatchObject({ kind: 'pause' });
});

test.each<[words: string, data: unknown, reason: RegExp]>([
  ['nothing', undefined, /does not say which/],
  ['no pages', { elicitations: [] }, /does not say which/],
  ['something else than a list', { elicitations: { a: sheet('a') } }, /does not say which/],
  [
    'a page without an id',
    { elicitations: [{ ...sheet('a'), elicitationId: undefined }] },
    /does not say which/,
  ],
  ['too many pages', { elicitations: Array.from({ length: 21 }, (_, n) => sheet(`p${n}`)) }, /does not say/],
  ['a page without an address', { elicitations: [{ ...sheet('a'), url: undefined }] }, /malformed/],
  ['an address that is none', { elicitations: [sheet('a', 'file:///etc/passwd')] }, /url/],
  ['an address with a password', { elicitations: [sheet('a'), sheet('b', 'https://a:b@c.d/')] }, /password/],
])('%s is refused in words', (_, data, reason) => {
  const read = readRequiredPages(data, all);
  expect(read).toMatchObject({ kind: 'unaskable', reason: expect.stringMatching(reason) });
});

test('a caller that cannot show pages is not shown any', () => {
  const read = readRequiredPages({ elicitations: [sheet('a')] }, { form: true, url: false });
  expect(read).toMatchObject({ kind: 'unaskable', reason: expect.stringContaining('cannot show') });
});
