import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { generateKey, parseKeys, SealingError } from '../../../src/credentials/sealing/key-ring.ts';

const old = generateKey('2025');
const fresh = generateKey('2026');

test('what was sealed opens again in the same context', () => {
  const ring = parseKeys(fresh);
  expect(ring.open(ring.seal('grüße, a token', 'row 1'), 'row 1')).toBe('grüße, a token');
});

test('the same text is sealed differently every time', () => {
  const ring = parseKeys(fresh);
  expect(ring.seal('token', 'row')).not.toBe(ring.seal('token', 'row'));
});

test('a rotated ring seals with the newest key and still opens what older keys sealed', () => {
  const sealed = parseKeys(old).seal('token', 'row');
  const rotated = parseKeys(`${fresh}, ${old}`);
  expect(rotated.open(sealed, 'row')).toBe('token');
  expect(rotated.seal('token', 'row')).toMatch(/^v1\.2026\./);
});

test('a key that was taken out of the ring is named, with the remedy', () => {
  const sealed = parseKeys(old).seal('token', 'row');
  expect(() => parseKeys(fresh).open(sealed, 'row')).toThrow(
    expect.objectContaining({
      name: 'SealingError',
      code: 'unknown-key',
      message: expect.stringMatching(/"2025".*put it back/),
    }),
  );
});

test('another key under the same id does not open it', () => {
  const sealed = parseKeys(generateKey('k')).seal('token', 'row');
  expect(() => parseKeys(generateKey('k')).open(sealed, 'row')).toThrow(
    expect.objectContaining({ code: 'damaged' }),
  );
});

test('a sealed value moved to another row does not open there', () => {
  const ring = parseKeys(fresh);
  const sealed = ring.seal('token of alice', 'alice');
  expect(() => ring.open(sealed, 'bob')).toThrow(expect.objectContaining({ code: 'damaged' }));
});

test('a change of any single byte is noticed', () => {
  const ring = parseKeys(fresh);
  const [version, id, body = ''] = ring.seal('token', 'row').split('.');
  const bytes = Buffer.from(body, 'base64url');
  for (let position = 0; position < bytes.length; position++) {
    const changed = Buffer.from(bytes);
    changed[position] = (changed[position] ?? 0) ^ 1;
    const forged = `${version}.${id}.${changed.toString('base64url')}`;
    expect(() => ring.open(forged, 'row'), `byte ${position}`).toThrow(SealingError);
  }
});

test.each(['', 'v1', 'v1.2026', 'v1.2026.', 'v1.2026.AAAA', 'v2.2026.AAAA', 'v1.2026.AAAA.AAAA'])(
  'what was never sealed is refused: %j',
  (sealed) => {
    expect(() => parseKeys(fresh).open(sealed, 'row')).toThrow(
      expect.objectContaining({ code: 'malformed' }),
    );
  },
);

test('every problem of the key list is reported at once, without showing a key', () => {
  const short = Buffer.alloc(16, 7).toString('base64');
  const refusal = () => parseKeys(`${fresh},${fresh},k2:${short},nocolon,k 3:${short},k4:***`);
  expect(refusal).toThrow(
    /INTERLUDE_KEYS: key 2: the id "2026" is used twice; key 3 \("k2"\): 16 bytes instead of 32/,
  );
  expect(refusal).toThrow(
    /key 4: write id:base64; key 5: its id may have .*; key 6 \("k4"\): not base64; make a key with/,
  );
  expect(refusal).not.toThrow(new RegExp(fresh.slice(5, 20).replaceAll(/[+/]/g, '.')));
});

test('a ring shows no key when it is printed or serialised', () => {
  const ring = parseKeys(fresh);
  const secret = fresh.split(':')[1] ?? '';
  expect(inspect(ring, { depth: 9, showHidden: true })).not.toContain(secret.slice(0, 12));
  expect(JSON.stringify(ring)).toBe('{"ids":["2026"]}');
});
