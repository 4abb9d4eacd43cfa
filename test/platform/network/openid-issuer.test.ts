/** Errors for an issuer that people cannot sign in with. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { issuerProblem } from '../../../src/platform/network/openid-issuer.ts';
import { freePort } from '../../free-port.ts';

async function issuerThatAnswers(status: number, body: (issuer: string) => unknown): Promise<string> {
  const server = createServer((request, response) => {
    if (request.url !== '/realm/.well-known/openid-configuration') return response.writeHead(404).end();
    return response.writeHead(status).end(JSON.stringify(body(issuer)));
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}/realm`;
  return issuer;
}

const sound = (issuer: string) => ({ issuer, jwks_uri: `${issuer}/keys` });

test('an issuer that answers as it should is no problem, and its keys are not asked for', async () => {
  expect(await issuerProblem(await issuerThatAnswers(200, sound))).toBeNull();
});

test('an address with a slash too many is corrected by what the provider calls itself', async () => {
  const issuer = await issuerThatAnswers(200, sound);
  expect(await issuerProblem(`${issuer}/`)).toBe(`the provider calls itself ${issuer}; write exactly that`);
});

test('an address without its path is told apart from a provider that is down', async () => {
  const issuer = (await issuerThatAnswers(200, sound)).replace('/realm', '');
  expect(await issuerProblem(issuer)).toBe(
    `${issuer}/.well-known/openid-configuration answered HTTP 404; check the address, with the path that some providers have`,
  );
  const nowhere = `http://127.0.0.1:${await freePort()}`;
  expect(await issuerProblem(nowhere)).toBe(
    `${nowhere} cannot be reached: nothing is listening there; check the address, and that it runs`,
  );
});

test('something else than a provider is named', async () => {
  const issuer = await issuerThatAnswers(200, () => 'hello');
  expect(await issuerProblem(issuer)).toMatch(/is no OpenID configuration; check the address$/);
});
