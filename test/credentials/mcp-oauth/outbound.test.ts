import { expect, test } from 'vitest';
import { createOutbound } from '../../../src/credentials/mcp-oauth/outbound.ts';
import { startServer } from '../guarded-server.ts';

type Options = Parameters<typeof createOutbound>[0];
/** For a server on this machine. */
const outboundHere = (options: Options) => createOutbound(options).of({ url: 'http://127.0.0.1/mcp' });

test('an answer that never ends is cut off', async () => {
  const origin = await startServer((_, response) => {
    response.writeHead(200);
    response.write('…');
  });
  await expect(outboundHere({ timeoutMs: 50 }).fetch(origin)).rejects.toMatchObject({ failure: 'timeout' });
  expect((await outboundHere({}).head(origin)).status).toBe(200);
});

test('an answer that is too large is refused, however it arrives', async () => {
  const origin = await startServer((_, response) => response.end('x'.repeat(1_001)));
  await expect(outboundHere({ maxBytes: 1_000 }).fetch(origin)).rejects.toMatchObject({
    failure: 'too-large',
  });
  expect(await (await outboundHere({ maxBytes: 1_001 }).fetch(origin)).text()).toHaveLength(1_001);
});

test('a request that carries a secret is not redirected', async () => {
  let reached = false;
  const elsewhere = await startServer((_, response) => {
    reached = true;
    response.end();
  });
  const origin = await startServer((_, response) => response.writeHead(307, { location: elsewhere }).end());
  const { fetch } = outboundHere({});
  await expect(fetch(origin, { method: 'POST', body: 'secret' })).rejects.toMatchObject({
    failure: 'redirected',
  });
  expect((await fetch(origin)).status).toBe(307);
  expect(reached).toBe(false);
});

test.each(['file:///etc/passwd', 'ftp://files.example/', 'http://user:password@127.0.0.1/'])(
  '%s is not asked',
  async (url) => {
    await expect(outboundHere({}).fetch(url)).rejects.toMatchObject({ failure: 'forbidden' });
  },
);

test('an error names the host only', async () => {
  const failure = await outboundHere({})
    .fetch('http://127.0.0.1:1/path?token=secret')
    .catch((error: unknown) => error);
  expect(failure).toMatchObject({ message: '127.0.0.1:1 cannot be reached' });
  expect(failure).not.toHaveProperty('cause');
});

test.each([
  ['https://mcp.example/mcp', 'http://sign-in.example/', 'plain-http'],
  ['https://mcp.example/mcp', 'https://127.0.0.1/', 'not-public'],
  ['https://mcp.example/mcp', 'https://[::ffff:10.0.0.1]/', 'not-public'],
  ['https://mcp.example/mcp', 'https://169.254.169.254/', 'not-public'],
  ['http://mcp.example/mcp', 'http://mcp.example:8080/', 'plain-http'],
  ['https://localhost/mcp', 'http://localhost:9000/', 'plain-http'],
  ['http://localhost/mcp', 'http://169.254.169.254/', 'not-public'],
])('because of %s, %s is not used: %s', (url, named, failure) => {
  const { check } = createOutbound({}).of({ url });
  expect(() => check(named)).toThrow(expect.objectContaining({ failure }));
});

test.each([
  ['http://mcp.example/mcp', 'http://mcp.example/.well-known/oauth-authorization-server'],
  ['http://mcp.example/mcp', 'https://sign-in.example/'],
  ['http://tracker:3002/mcp', 'http://sign-in:9000/'],
  ['http://127.0.0.1:3002/mcp', 'https://10.0.0.1/'],
])('because of %s, %s may be used', (url, named) => {
  createOutbound({}).of({ url }).check(named);
});

test('the operator may say of a name that it is in their own network, or is not', () => {
  const { of } = createOutbound({});
  of({ url: 'https://mcp.company.example/mcp', local: true }).check('https://10.0.0.1/');
  expect(() => of({ url: 'https://mcp.lan/mcp', local: false }).check('https://10.0.0.1/')).toThrow(
    /not at an address of the internet/,
  );
});

test('of an error all is kept that it says, whatever its members are', async () => {
  const said = { error: { code: 'bad_refresh_token' }, errorCode: 'E42', error_description: null };
  for (const status of [200, 400]) {
    const origin = await startServer((_, response) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(said)),
    );
    const answered = await outboundHere({}).fetch(origin);
    expect(await answered.json()).toEqual({ error: { code: 'bad_refresh_token' }, errorCode: 'E42' });
  }
});
