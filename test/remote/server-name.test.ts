/** By what a server is known again, and what is shown of that. */
import { expect, test } from 'vitest';
import type { ServerConfig } from '../../src/platform/config/config.ts';
import { identityOf } from '../../src/remote/server-name.ts';

const at = (url: string) => ({ url }) as ServerConfig;
const program = (...args: string[]) =>
  ({
    url: 'stdio://files',
    process: { command: 'files', args, cwd: '/', env: {} },
  }) as unknown as ServerConfig;

test('another path, scheme, query or command is another server, whatever is shown of it', () => {
  const servers = [
    at('https://h.example/team-a/mcp'),
    at('https://h.example/team-b/mcp'),
    at('http://h.example/team-a/mcp'),
    at('https://h.example/team-a/mcp?x=1'),
    program(),
    program('--write'),
  ];
  const identities = servers.map(identityOf);
  expect(new Set(identities).size).toBe(servers.length);
  expect(identities.map((identity) => identity.split('#')[0])).toEqual([
    ...Array.from({ length: 4 }, () => 'h.example'),
    'this machine',
    'this machine',
  ]);
  expect(identityOf(at('https://h.example/team-a/mcp'))).toBe(identities[0]);
});
