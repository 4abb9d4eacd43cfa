import { expect, test } from 'vitest';
import { parseCapabilities } from '../../src/elicitation/elicitation.ts';

test.each([
  ['true', { url: true, form: true }],
  ['TRUE', { url: true, form: true }],
  ['url', { url: true, form: false }],
  ['form', { url: false, form: true }],
  [' url , form ', { url: true, form: true }],
  ['false', { url: false, form: false }],
  ['', { url: false, form: false }],
  [undefined, { url: false, form: false }],
])('x-supports-elicitation: %s', (header, capabilities) => {
  expect(parseCapabilities(header)).toEqual(capabilities);
});
