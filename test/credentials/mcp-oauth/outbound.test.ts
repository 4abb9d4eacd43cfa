import { expect, test } from 'vitest';
import { createOutbound } from '../../../src/credentials/mcp-oauth/outbound.ts';
import { startServer } from '../guarded-server.ts';

test('an answer that never ends is cut off', async () => {
  const origin = await startServer((_, response) => {
    response.writeHead(200);
    response.write('…');
  });
  const outbound = createOutbound({ timeoutMs: 50 });
  await expect(outbound.fetch(origin)).rejects.toMatchObject({ failure: 'timeout' });
  expect((await outbound.head(origin)).status).toBe(200);
});

test('an answer that is too large is refused, however it arrives', async () => {
  const origin = await startServer((_, response) => response.end('x'.repeat(1_001)));
  await expect(createOutbound({ maxBytes: 1_000 }).fetch(origin)).rejects.toMatchObject({
    failure: 'too-large',
  });
  expect(await (await createOutbound({ maxBytes: 1_001 }).fetch(origin)).text()).toHaveLength(1_001);
});

test('a request that carries a secret is not redirected', async () => {
  let reached = false;
  const elsewhere = await startServer((_, response) => {
    reached = true;
    response.end();
  });
  const origin = await startServer((_, response) => response.writeHead(307, { location: elsewhere }).end());
  const { fetch } = createOutbound({});
  await expect(fetch(origin, { method: 'POST', body: 'secret' })).rejects.toMatchObject({
    failure: 'redirected',
  });
  expect((await fetch(origin)).status).toBe(307);
  expect(reached).toBe(false);
});

test.each(['file:///etc/passwd', 'ftp://files.example/', 'http://user:password@127.0.0.1/'])(
  '%s is not asked',
  async (url) => {
    await expect(createOutbound({}).fetch(url)).rejects.toMatchObject({ failure: 'forbidden' });
  },
);

test('an error names the host only', async () => {
  const failure = await createOutbound({})
    .fetch('http://127.0.0.1:1/path?token=secret')
    .catch((error: unknown) => error);
  expect(failure).toMatchObject({ message: '127.0.0.1:1 cannot be reached' });
  expect(failure).not.toHaveProperty('cause');
});
