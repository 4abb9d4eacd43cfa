/**
 * An issuer of access tokens that containers reach over https as `login.test`. Its certificate is of a private authority, made
 * for this run with openssl.
 */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { promisify } from 'node:util';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';

const run = promisify(execFile);
const host = 'login.test';

/** Writes the authority's certificate to `authority`, and keeps keys in `folder`. */
export async function startIssuer(folder: string, authority: string) {
  const file = (name: string) => path.join(folder, name);
  const certify = (subject: string, key: string, certificate: string, options: string[] = []) =>
    run('openssl', [
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:prime256v1',
      '-nodes',
      '-days',
      '1',
      '-subj',
      subject,
      '-keyout',
      key,
      '-out',
      certificate,
      ...options,
    ]);
  await certify('/CN=Company', file('company.key'), authority);
  const signed = ['-CA', authority, '-CAkey', file('company.key'), '-addext', `subjectAltName=DNS:${host}`];
  await certify(`/CN=${host}`, file('login.key'), file('login.pem'), signed);

  const { publicKey, privateKey } = await generateKeyPair('ES256');
  const keys = [{ ...(await exportJWK(publicKey)), alg: 'ES256', use: 'sig', kid: 'k' }];
  const tls = { key: await readFile(file('login.key')), cert: await readFile(file('login.pem')) };
  const server = createServer(tls, ({ url }, response) => {
    const metadata = { issuer, jwks_uri: `${issuer}/keys` };
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(url === '/keys' ? { keys } : metadata));
  });
  // On every address, because containers come over a bridge.
  server.listen(0);
  await once(server, 'listening');
  const issuer = `https://${host}:${(server.address() as AddressInfo).port}`;
  return {
    issuer,
    token: (user: string) =>
      new SignJWT({ tenant: 'demo' })
        .setProtectedHeader({ alg: 'ES256', kid: 'k' })
        .setIssuer(issuer)
        .setAudience('interlude')
        .setSubject(user)
        .setExpirationTime('2h')
        .sign(privateKey),
    [Symbol.dispose]() {
      server.close();
      server.closeAllConnections();
    },
  };
}
