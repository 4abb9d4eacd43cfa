/**
 * TLS through the guard: the address is the one that was looked at, the certificate is checked against the name. The
 * certificate is made for guarded.example, and good for a hundred years (openssl req -x509 -newkey ec …).
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { fetch } from 'undici';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { allowsAddress } from '../../../src/platform/network/addresses.ts';
import { AddressRefused, createGuardedAgent } from '../../../src/platform/network/guarded-agent.ts';
import { startServer } from '../../credentials/guarded-server.ts';

const fixture = (name: string) =>
  readFileSync(new URL(`../../fixtures/tls/${name}`, import.meta.url), 'utf8');

beforeAll(() => {
  const before = getCACertificates('default');
  setDefaultCACertificates([...before, fixture('certificate.pem')]);
  return () => setDefaultCACertificates(before);
});

/** Stops with the test. `names`: what clients have asked for by SNI. */
async function serve(location?: string) {
  const names: unknown[] = [];
  const tls = { key: fixture('key.pem'), cert: fixture('certificate.pem') };
  const server = createServer(tls, (request, response) => {
    names.push('servername' in request.socket && request.socket.servername);
    if (location === undefined) response.end('hello');
    else response.writeHead(302, { location }).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return { port: (server.address() as AddressInfo).port, names };
}

/** Every name is at 127.0.0.1, which counts as an address of the internet as long as it is a name's. */
function guard() {
  const looked: string[] = [];
  let isOfName = false;
  const dispatcher = createGuardedAgent('public', {
    resolve(hostname, _, callback) {
      looked.push(hostname);
      isOfName = true;
      callback(null, [{ address: '127.0.0.1', family: 4 }]);
    },
    allows(address, reach) {
      const isAllowed = isOfName || allowsAddress(address, reach);
      isOfName = false;
      return isAllowed;
    },
  });
  onTestFinished(() => dispatcher.destroy());
  return { dispatcher, looked };
}

const causeOf = (promise: Promise<unknown>) =>
  promise.then(
    () => null,
    (error: unknown) => (error instanceof Error ? error.cause : error),
  );

test('a server is reached by name, at the address that was looked at, with a certificate for the name', async () => {
  const { port, names } = await serve();
  const { dispatcher, looked } = guard();
  const response = await fetch(`https://guarded.example:${port}/`, { dispatcher });
  expect(await response.text()).toBe('hello');
  expect(names).toEqual(['guarded.example']);
  expect(looked).toEqual(['guarded.example']);
});

test('a certificate for another name is not accepted, although the address is the same', async () => {
  const { port, names } = await serve();
  const { dispatcher } = guard();
  const cause = await causeOf(fetch(`https://attacker.example:${port}/`, { dispatcher }));
  expect(cause).toMatchObject({ code: 'ERR_TLS_CERT_ALTNAME_INVALID' });
  expect(names).toEqual([]);
});

test('a redirect from there to this machine is refused', async () => {
  let reached = 0;
  const inner = await startServer((_, response) => {
    reached++;
    response.end();
  });
  const { port } = await serve(inner);
  const { dispatcher } = guard();
  const cause = await causeOf(fetch(`https://guarded.example:${port}/`, { dispatcher }));
  expect(cause).toBeInstanceOf(AddressRefused);
  expect(reached).toBe(0);
});
