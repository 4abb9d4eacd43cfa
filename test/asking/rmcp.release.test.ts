/** Servers made with the SDK for Rust asking in a whole turn. `docs/mcp-peers.md` has the results. */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { rmcpProgram } from '../programs/built-program.ts';
import { startRmcp, useOnStdio } from '../servers/built-servers.ts';
import type { FastMCP } from '../servers/fastmcp.ts';
import { callOf, startAsking } from '../service/asking.ts';
import type { Service } from '../service/service.ts';
import { useDevelopmentServer } from '../service/use-development-server.ts';
import { accept, asTurn } from './asking-service.ts';
import type { AskedTurn } from './asking-service.ts';

const temporal = useDevelopmentServer();
let executable: string;
let server: FastMCP | undefined;
let service: Service | undefined;

// The first build takes minutes.
beforeEach(async ({ skip }) => {
  const program = await rmcpProgram();
  if ('missing' in program) return skip(program.missing);
  executable = program.executable;
}, 900_000);

afterEach(async () => {
  await service?.stop();
  await server?.stop();
  service = server = undefined;
});

async function startService(mode: 'sessions' | 'stateless', era = 'auto') {
  const start = await startRmcp(mode);
  if (start.kind === 'missing') throw new Error(start.why);
  server = start.server;
  service = await startAsking({ temporal, url: server.url, env: { ASKING_ERA: era } });
  const alice = await service.as('alice');
  const call = (tool: string, city: string): Promise<AskedTurn> =>
    asTurn(alice, randomUUID(), (conversation) => alice.chat(callOf([tool, { city }]), { conversation }));
  return { call, did: () => start.server.did() };
}

describe('a server of rmcp', { timeout: 120_000 }, () => {
  test.each([
    ['with sessions pushes', 'book', 'sessions', 'auto'],
    ['with sessions returns', 'rounds', 'sessions', '2026-07-28'],
    ['without sessions returns', 'rounds', 'stateless', 'auto'],
  ] as const)('%s its question, and does what was answered once', async (_, tool, mode, era) => {
    const { call, did } = await startService(mode, era);
    const turn = await call(tool, 'Lisbon');
    expect(await turn.question(0)).toMatchObject({ message: 'How many nights in Lisbon?' });
    expect(await turn.answer(0, accept({ nights: 'three' }))).toMatchObject({ status: 422 });
    await turn.answer(0, accept({ nights: 3 }));
    expect((await turn.end()).text).toBe('booked Lisbon for 3');
    for (const action of ['decline', 'cancel']) {
      const refused = await call(tool, action);
      await refused.answer(0, { action });
      expect((await refused.end()).text).toBe(`not booked: ${action}`);
    }
    expect(did()).toEqual(['begin Lisbon', 'book Lisbon for 3', 'begin decline', 'begin cancel']);
  });

  test('returns a question in the old era once, and is called in the new one from then on', async () => {
    const { call, did } = await startService('sessions');
    const first = await call('rounds', 'Lisbon');
    expect((await first.end()).error).toContain('another call will ask');
    const turn = await call('rounds', 'Lisbon');
    await turn.answer(0, accept({ nights: 3 }));
    expect((await turn.end()).text).toBe('booked Lisbon for 3');
    expect(did()).toEqual(['begin Lisbon', 'begin Lisbon', 'book Lisbon for 3']);
  });

  test.each(['auto', '2025-11-25'])(
    'cannot push without sessions (era: %s): nobody is asked, nothing is done, and the model learns that it failed',
    async (era) => {
      const { call, did } = await startService('stateless', era);
      const { error, questions } = await (await call('book', 'Lisbon')).end();
      expect(error).toContain('failed while it handled the call (error -32603)');
      expect(questions).toEqual([]);
      expect(did()).toEqual(['begin Lisbon']);
    },
  );
});

describe('a program of rmcp on stdio', { timeout: 60_000 }, () => {
  const booked = { kind: 'result', result: { content: [{ text: 'booked Lisbon for 3' }] } };

  test('pushes its question', async () => {
    const { callTool, close } = useOnStdio(executable, ['server', 'stdio']);
    expect(await callTool('book')).toMatchObject(booked);
    await close();
  });

  test('returns a question in the old era once, and is called in the new one from then on', async () => {
    const { callTool, close } = useOnStdio(executable, ['server', 'stdio']);
    expect(await callTool('rounds')).toMatchObject({ kind: 'unknown' });
    expect(await callTool('rounds')).toMatchObject(booked);
    await close();
  });
});

test('the results name the version that was tried', () => {
  const read = (file: string) => readFileSync(new URL(file, import.meta.url), 'utf8');
  const [, version] = /rmcp = \{ version = "=([\d.]+)"/.exec(read('../programs/rmcp/Cargo.toml')) ?? [];
  expect(read('../../docs/mcp-peers.md')).toContain(`\`rmcp\` ${version}`);
});
