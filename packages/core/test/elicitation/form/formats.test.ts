/** Our formats, which browsers can use as well, and those of `ajv-formats`, which many others use: they agree. */
import { fullFormats } from 'ajv-formats/dist/formats.js';
import { expect, test } from 'vitest';
import { hasFormat } from '../../../src/elicitation/form/check-form.ts';

function theirs(format: 'email' | 'uri' | 'date' | 'date-time', text: string): boolean {
  const given = fullFormats[format] as RegExp | ((value: string) => boolean) | { validate: unknown };
  if (given instanceof RegExp) return given.test(text);
  const validate = typeof given === 'function' ? given : (given.validate as (value: string) => boolean);
  return validate(text);
}

const emails = [
  'a@b.co',
  "o'brien+x@example.co.uk",
  'a@b',
  'a@-b.co',
  'a@b-.co',
  '.a@b.co',
  'a.@b.co',
  'a..b@c.de',

  'a b@c.de',
  'a@b.c',
  'A.B@c-d.Example',
  '"a"@b.co',
  'a@b_c.de',
  'a@[1.2.3.4]',
  'ä@b.co',
  '@b.co',
  'a@',
  '',
];
const uris = [
  'urn:isbn:0451450523',
  'mailto:a@b.c',
  'https://a.b/c?d#e',
  'http://a b',
  'https://a/%zz',
  'https://a/%20',
  'ftp://h:1/x#y',
  'ftp://h:1/x#y#z',
  'http://u@h/',
  'http://u:p@h/',
  'https://[::1]/',
  'https://[::1',

  'https://[1::2::3]/',
  'http://[::ffff:1.2.3.4]:80/',
  'a:',
  'a:b',
  'a:/b',
  'a:/',
  'a://',
  'a:///b',
  '//a/b',
  '/b',
  'b',
  '1a:b',
  'a+b-c.d:e',
  'http://h:/',
  'http://ä.example/',
  'a:b?c?d',
  'a:b#',
  'a:"b"',
  'a:b|c',
  '',
];
const days = [
  '2026-02-28',
  '2026-02-29',
  '2028-02-29',
  '1900-02-29',
  '2000-02-29',
  '2026-04-31',
  '0000-01-01',
  '2026-00-10',
  '2026-13-01',
  '2026-1-1',
  '20265-11-22',
  '+002026-01-01',
  '21.11.2026',
  '2026-11-21 ',
  '',
];
const moments = [
  '2026-11-21T10:00:00Z',
  '2026-11-21t10:00:00z',
  '2026-11-21 10:00:00Z',
  '2026-11-21T10:00:00',
  '2026-11-21T10:00Z',
  '2026-11-21T24:00:00Z',
  '2026-11-21T23:59:60Z',
  '2026-11-21T22:59:60Z',

  '2026-11-21T10:00:00.123456+14:00',
  '2026-11-21T10:00:00.Z',
  '2026-11-21T10:00:00+0100',
  '2026-11-21T10:00:00+01',
  '2026-11-21T23:59:61Z',

  '2026-02-30T10:00:00Z',
  '2026-11-21T10:60:00Z',
  '2026-11-21T10:00:00+24:00',
  '2026-11-21T10:00:00+01:60',
  '2026-11-21TT10:00:00Z',
  '-',
];

test.each([
  ...emails.map((text) => ['email', text] as const),
  ...uris.map((text) => ['uri', text] as const),
  ...days.map((text) => ['date', text] as const),
  ...moments.map((text) => ['date-time', text] as const),
])('%s: “%s”', (format, text) => {
  expect(hasFormat(text, format)).toBe(theirs(format, text));
});

test.each([
  ['a port that is no number', 'uri', 'http://h:port/', false],
  ['no host', 'uri', 'http://', false],
  ['no path before a query', 'uri', 'a:?b', true],
  ['a leap second in another zone', 'date-time', '2026-11-22T00:59:60+01:00', false],
] as const)('they differ in %s', (_, format, text, ours) => {
  expect(hasFormat(text, format)).toBe(ours);
  expect(theirs(format, text)).toBe(!ours);
});
