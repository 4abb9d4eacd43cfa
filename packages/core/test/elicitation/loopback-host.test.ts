import { expect, test } from 'vitest';
import { isLoopbackHost } from '../../src/elicitation/url-safety.ts';

test.each([
  ['127.0.0.1', true],
  ['127.8.9.10', true],
  ['::1', true],
  ['[::1]', true],
  ['localhost', true],
  ['app.localhost', true],
  ['localhost.', true],
  ['127.0.0.1.example.com', false],
  ['127.example', false],
  ['localhost.example', false],
  ['notlocalhost', false],
  ['0.0.0.0', false],
  ['10.0.0.1', false],
  ['::ffff:127.0.0.1', false],
])('%s is this machine and nothing else: %s', (host, isLoopback) => {
  expect(isLoopbackHost(host)).toBe(isLoopback);
});
