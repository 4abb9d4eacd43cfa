/** An account that everybody shares, through the whole service: who meets it, and the operator at the command line. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { generateKey } from '../../src/credentials/sealing/key-ring.ts';
import { bareEnvironment } from '../bare-environment.ts';
import { startKeyedServer } from '../servers/keyed-server.ts';
import { questionsIn } from '../service/asking.ts';
import { startService } from '../service/service.ts';
import { useDevelopmentServer } from '../service/use-development-server.ts';

const agentsFile = fileURLToPath(new URL('../fixtures/vault-agents.yaml', import.meta.url));
const key = 'nts_first_0123456789abcdefab12';

const temporal = useDevelopmentServer();

async function begin() {
  const folder = await mkdtemp(path.join(tmpdir(), 'interlude-shared-'));
  const notes = await startKeyedServer({ header: 'x-api-key', accepted: [key] });
  const env = {
    INTERLUDE_CONFIG: agentsFile,
    NOTES_URL: notes.config.url,
    NOTES_SCOPE: 'project',
    DATABASE_URL: `sqlite:${path.join(folder, 'shared.db')}`,
    INTERLUDE_KEYS: generateKey('k1'),
  };
  const service = await startService({ temporal, env });
  onTestFinished(async () => {
    await service.stop();
    await notes.stop();
    await rm(folder, { recursive: true });
  });

  async function command(args: string[], input = ''): Promise<{ code: number; said: string }> {
    const child = spawn(process.execPath, ['src/cli/checkout.ts', 'accounts', ...args, '--tenant', 'demo'], {
      cwd: path.resolve(import.meta.dirname, '../..'),
      env: { ...bareEnvironment(), ...env, PUBLIC_URL: service.baseUrl, INTERLUDE_DATA: folder },
    });
    let said = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => (said += chunk.toString()));
    child.stdin.end(input);
    const [code] = (await once(child, 'close')) as [number];
    return { code, said };
  }

  /** Says it as somebody who can be asked, and is not. */
  async function say(user: 'alice' | 'bob' | 'a service', text: string) {
    const caller = user === 'a service' ? await service.asService() : await service.as(user);
    const stream = await caller.chat(`call notes__note {"text":"${text}"}`);
    await stream.finished();
    expect(questionsIn(stream)).toEqual([]);
    const notice = stream.chunks.find(({ type }) => type === 'data-tool-auth-required');
    return { told: stream.text(), notice: (notice?.['data'] as { message: string } | undefined)?.message };
  }

  return { service, notes, command, say };
}

test('whoever meets a shared account that is missing or refused is told whom to ask, and nobody is asked', async () => {
  const { service, notes, command, say } = await begin();
  const missing = 'Notes is used with one account for everybody here, and it is not connected.';
  for (const user of ['alice', 'a service'] as const) {
    const { told, notice } = await say(user, 'one');
    expect(told).toContain(missing);
    expect(notice).toBe(`${missing} Ask Dana in Finance to connect it.`);
  }
  expect(await command(['list'])).toEqual({ code: 0, said: 'notes\tmissing\n' });
  expect(await command(['connect', 'notes'], 'nts_wrong_0123456789abcdef\n')).toMatchObject({ code: 1 });
  expect(await command(['connect', 'notes'], `${key}\n`)).toEqual({
    code: 0,
    said: 'notes is connected for everybody in demo as key ending in …ab12.\n',
  });
  await say('alice', 'two');
  await say('bob', 'three');
  expect(notes.runs.map(({ note }) => note)).toEqual(['two', 'three']);

  // Refused for one call, it stays for all others.
  notes.mood = { kind: 'answers', status: 403 };
  const { told, notice } = await say('alice', 'four');
  expect(told).toContain('and Notes refuses it');
  expect(notice).toContain('Ask Dana in Finance to connect it again.');
  notes.mood = { kind: 'works' };
  await say('bob', 'five');
  expect(notes.runs.at(-1)).toMatchObject({ note: 'five' });

  expect(await command(['list'])).toMatchObject({ said: 'notes\tactive\tkey ending in …ab12\n' });
  expect(await command(['disconnect', 'notes'])).toEqual({ code: 0, said: 'notes is disconnected.\n' });
  expect(await service.storage.audit.ofElicitation('')).toMatchObject([
    { action: 'connected', actor: '(command line)', address: 'command line' },
    { action: 'disconnected', actor: '(command line)', address: 'command line' },
  ]);
});

test('the command says what is wrong, and changes nothing', async () => {
  const { command } = await begin();
  expect(await command([])).toMatchObject({
    code: 2,
    said: expect.stringContaining('accounts --help'),
  });
  expect(await command(['connect', 'unknown'], key)).toMatchObject({
    code: 1,
    said: expect.stringContaining('there is: notes'),
  });
  expect(await command(['disconnect', 'notes'])).toEqual({ code: 0, said: 'notes was not connected.\n' });
});
