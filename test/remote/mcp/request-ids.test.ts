/** The SDK begins every client's ids at zero; this fails when that can no longer be changed. */
import { expect, test } from 'vitest';
import { answer } from '../../servers/raw-mcp-server.ts';
import { call, done, peer, useOneCall } from './one-call.ts';

useOneCall();

test.each(['modern', 'legacy'] as const)('no two requests to a %s server share an id', async (era) => {
  const server = await peer(era, { 'tools/call': (message, response) => answer(message, response, done) });
  for (const _ of [1, 2, 3]) expect(await call(server.config)).toMatchObject({ kind: 'result' });
  const ids = server.messages.flatMap(({ method, id }) => (method === 'tools/call' ? [id] : []));
  expect(ids).toHaveLength(3);
  expect(new Set(ids).size).toBe(3);
});
