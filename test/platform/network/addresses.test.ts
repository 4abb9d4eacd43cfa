import { expect, test } from 'vitest';
import { allowsAddress, isLocalHost } from '../../../src/platform/network/addresses.ts';

const refusedToAll = [
  '169.254.169.254',
  '169.254.0.1',
  'fe80::1',
  '::ffff:169.254.169.254',
  '64:ff9b::a9fe:a9fe',
  '100.100.100.200',
  '192.0.0.192',
  'fd00:ec2::254',
  '224.0.0.1',
  'ff02::1',
  '255.255.255.255',
  'nonsense',
];

test.each(refusedToAll)('%s is connected to by nobody', (address) => {
  expect(allowsAddress(address, 'local')).toBe(false);
  expect(allowsAddress(address, 'public')).toBe(false);
});

const ownNetwork = [
  '127.0.0.1',
  '127.8.9.10',
  '10.0.0.1',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.1.1',
  '100.64.0.1',
  '0.0.0.0',
  '::1',
  '::',
  'fd12:3456::1',
  '::ffff:127.0.0.1',
  '::ffff:7f00:1',
  '::ffff:10.0.0.1',
  '64:ff9b::7f00:1',
];

test.each(ownNetwork)('%s is for those who are local', (address) => {
  expect(allowsAddress(address, 'local')).toBe(true);
  expect(allowsAddress(address, 'public')).toBe(false);
});

test.each([
  '198.18.0.1',
  '192.0.2.1',
  '203.0.113.5',
  '240.0.0.1',
  '64:ff9b:1::7f00:1',
  '2002:7f00:1::',
  '2001:0:7f00:1::',
  'fec0::1',
  '::7f00:1',
  '2001:db8::1',
  '100::1',
])('%s is no address of the internet', (address) => {
  expect(allowsAddress(address, 'public')).toBe(false);
});

test.each(['1.1.1.1', '172.32.0.1', '2606:4700:4700::1111', '::ffff:1.1.1.1', '64:ff9b::101:101'])(
  '%s is an address of the internet',
  (address) => expect(allowsAddress(address, 'public')).toBe(true),
);

test.each([
  ['http://127.0.0.1:3002/mcp', true],
  ['http://2130706433/mcp', true],
  ['http://[::1]/mcp', true],
  ['http://[::ffff:127.0.0.1]/mcp', true],
  ['http://10.1.2.3/mcp', true],
  ['http://localhost:3002/mcp', true],
  ['http://LOCALHOST./mcp', true],
  ['http://tracker:3002/mcp', true],
  ['http://tracker.tools.svc/mcp', true],
  ['http://tracker.tools.svc.cluster.local/mcp', true],
  ['https://tracker.corp/mcp', true],
  ['https://tracker.internal/mcp', true],
  ['https://mcp.example.com/mcp', false],
  ['https://localhost.example.com/mcp', false],
  ['https://notlocal/mcp', true],
  ['https://internal.example/mcp', false],
  ['https://evil-internal.com/mcp', false],
  ['https://1.1.1.1/mcp', false],
])('whether %s is local is told by its name: %s', (url, isLocal) => {
  expect(isLocalHost(new URL(url).hostname)).toBe(isLocal);
});
