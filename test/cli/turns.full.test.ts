/** Turns and questions at a terminal, as operators see them, on the database of a service. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadOrCreateKeys } from '../../src/credentials/sealing/key-file.ts';
import { openStorage } from '../../src/storage/open-storage.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { ask, beginTurn } from '../api/api-under-test.ts';
import { begunTurn } from '../storage/contract/fixtures.ts';
import { bareEnvironment } from '../bare-environment.ts';

let folder: string;
let storage: Storage;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'interlude-turns-'));
  storage = await openStorage({ kind: 'sqlite', path: path.join(folder, 'interlude.db') });
  await loadOrCreateKeys(folder);
  for (const name of ['one', 'two']) await ask(storage, await beginTurn(storage, name));
  await beginTurn(storage, 'busy');
  await begunTurn(storage, { tenant: 'demo', turnId: 'turn-of-billing', user: null, service: 'billing' });
});
afterAll(async () => {
  await storage.close();
  await rm(folder, { recursive: true });
});

const interlude = (...args: string[]) => interludeIn(folder, ...args);

async function interludeIn(
  data: string,
  ...args: string[]
): Promise<{ code: number; output: string; errors: string }> {
  const root = path.resolve(import.meta.dirname, '../..');
  const env = { ...bareEnvironment(), INTERLUDE_DATA: data, TEMPORAL_UI_URL: 'https://temporal.example' };
  const child = spawn(process.execPath, ['src/cli/checkout.ts', ...args], { cwd: root, env });
  let [output, errors] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  const [code] = await once(child, 'close');
  return { code: Number(code), output, errors };
}

/** Each starts a process. */
const patient = { timeout: 90_000 };

test('turns are listed with what they wait for, and told one by one', patient, async () => {
  const [{ output }, { output: told }, ofService] = await Promise.all([
    interlude('turns', '--state', 'waiting', '--user', 'alice'),
    interlude('turn', 'turn-of-one'),
    interlude('turns', '--service', 'billing'),
  ]);
  expect(ofService.output).toMatch(/^working .* turn-of-billing {2}assistant for the service billing\n$/);
  expect(output.split('\n')).toEqual([
    expect.stringMatching(/^waiting .* turn-of-two {2}assistant for alice$/),
    expect.stringMatching(/Waits for alice to connect Tracker, for .*; \d+ min left \(question-of-two\)$/),
    expect.stringMatching(/^waiting .* turn-of-one {2}assistant for alice$/),
    expect.stringMatching(/\(question-of-one\)$/),
    '',
  ]);
  expect(told).toContain('assistant for alice: waiting');
  expect(told).toContain(
    'https://temporal.example/namespaces/default/workflows/turn%2Fdemo%2Fone%2Fturn-of-one',
  );
  expect(told).toMatch(/^ {2}workflow +turn\/demo\/one\/turn-of-one$/m);
  expect(told).toMatch(/alice was asked to connect Tracker · waiting for /);
  expect(told).toContain('  last error    unknown, because Temporal does not answer\n');
  expect(told).not.toContain('hello');
});

test('contents are shown when they are asked for, which is in the audit', patient, async () => {
  expect((await interlude('turn', 'turn-of-one', '--contents')).output).toContain('Message: hello');
  expect(await storage.audit.ofTurn('turn-of-one')).toMatchObject([
    { action: 'viewed', actor: expect.stringContaining('(command line)') },
  ]);
});

test('the audit is exported, and a file is verified without the service', patient, async () => {
  const { output, errors } = await interlude('audit', 'export', '--tenant', 'demo', '--from', '2026-01-01');
  expect(errors).toBe('Entries: 1. With deleted contents: 0.\n');
  expect(output).toContain('"action":"viewed"');
  const file = path.join(folder, 'audit.ndjson');
  const changed = path.join(folder, 'changed.ndjson');
  await Promise.all([writeFile(file, output), writeFile(changed, output.replace('viewed', 'opened'))]);
  const [good, bad, missing] = await Promise.all([
    interlude('audit', 'verify', file),
    interlude('audit', 'verify', file, changed),
    interlude('audit', 'verify', 'no-file'),
  ]);
  expect([good.code, good.output]).toEqual([
    0,
    expect.stringMatching(/: unchanged\n {2}demo {2}1 position, 1 to 1 · chain [0-9a-f]{16}…\n$/),
  ]);
  expect([bad.code, bad.errors]).toEqual([
    1,
    expect.stringMatching(/line 2: the contents of entry 1 of demo were changed\n$/),
  ]);
  expect(missing.code).toBe(2);
});

test('open questions are listed; one is expired and a turn is cancelled, once each', patient, async () => {
  expect((await interlude('questions')).output).toMatch(
    /^pending .*question-of-two .*\n +turn turn-of-two\n/,
  );
  const done = await Promise.all([
    interlude('cancel', 'question-of-one'),
    interlude('cancel', 'turn-of-two'),
  ]);
  expect(done.map(({ output }) => output)).toEqual([
    'The question question-of-one has expired.\n',
    'The turn turn-of-two is being cancelled.\n',
  ]);
  expect(await storage.elicitations.get('question-of-two')).toMatchObject({ status: 'cancel' });
  const left = await storage.outbox.claim(10, 1_000);
  expect(left.map(({ id }) => id).toSorted()).toEqual([
    'cancel/turn-of-two',
    'report/question-of-one',
    'report/question-of-two',
    'settled/question-of-one/turn/1',
  ]);
  const [again, open] = await Promise.all([interlude('cancel', 'question-of-one'), interlude('questions')]);
  expect(again.output).toContain('was settled before: expired');
  expect(open.output).toBe('No question matches.\n');
});

test('a user is exported and erased, which a restored backup repeats', patient, async () => {
  const turn = await begunTurn(storage, { tenant: 'acme', conversation: 'left', user: 'dave' });
  await storage.turns.end(turn, 'completed', { isOwn: true });
  const secrets = { store: 'gone', account: null, scopes: [], sealed: 'sealed', freshUntil: null };
  const key = { tenant: 'acme', server: 'tracker', user: 'dave' };
  await storage.connections.establish(key, secrets);
  const dave = ['dave', '--tenant', 'acme'];
  const { output } = await interlude('users', 'export', ...dave);
  const lines = output
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { kind: string });
  expect(lines.map(({ kind }) => kind)).toEqual([
    'user',
    'connection',
    'conversation',
    'turn',
    'message',
    'event',
    'event',
  ]);
  expect(output).toContain('Good morning');
  expect(output).not.toContain('sealed');

  expect((await interlude('users', 'erase', ...dave)).output).toBe(
    'Erased dave of acme: 1 conversation, 1 account.\nThe provider of tracker did not confirm that the account is revoked.\n',
  );
  expect([await storage.turns.conversation(turn), await storage.connections.get(key)]).toEqual([null, null]);
  const { output: list } = await interlude('users', 'erasures');
  expect(JSON.parse(list)).toMatchObject({ tenant: 'acme', user: 'dave' });

  const [unknown, erased] = await Promise.all([
    interlude('users', 'export', ...dave),
    interlude('users', 'erase', 'Dave', '--tenant', 'acme'),
  ]);
  for (const { code, output, errors } of [unknown, erased])
    expect([code, `${output}${errors}`]).toEqual([
      0,
      expect.stringContaining('the sub of their access tokens'),
    ]);

  const file = path.join(folder, 'erasures.ndjson');
  const later = JSON.stringify({ tenant: 'acme', conversation: 'again', at: Date.now() });
  await writeFile(file, `${list}${later}\n`);
  const restored = await begunTurn(storage, { tenant: 'acme', conversation: 'again', user: 'erin' });
  await storage.turns.end(restored, 'completed', { isOwn: true });
  expect((await interlude('users', 'erase', '--again', file)).output).toBe(
    'Repeated 1 of 2 erasures; this database knows the others.\n',
  );
  expect(await storage.turns.conversation(restored)).toBeNull();

  await writeFile(file, `${list}{"tenant":"acme"}\n`);
  const [broken, nameless] = await Promise.all([
    interlude('users', 'erase', '--again', file),
    interlude('users', 'erase', 'dave'),
  ]);
  expect([broken.code, broken.errors]).toEqual([2, expect.stringContaining('line 2: it is no erasure')]);
  expect([nameless.code, nameless.errors]).toEqual([2, expect.stringContaining('--tenant <tenant>')]);
});

test('without a database, commands say so and make none', patient, async () => {
  const commands = ['turns', 'versions list', 'accounts list --tenant demo', 'api-keys list', 'keys reseal'];
  const refused = commands.map(async (command, index) => {
    const data = path.join(folder, `empty-${index}`);
    const { code, output, errors } = await interludeIn(data, ...command.split(' '));
    const said = errors.replace(path.join(data, 'interlude.db'), 'there');
    return [command, code, output + said, existsSync(data)];
  });
  const words = 'There is no database at there; run this with the environment of the service.\n';
  expect(await Promise.all(refused)).toEqual(commands.map((command) => [command, 1, words, false]));
});

test('without the keys of the service, a command makes none', patient, async () => {
  const data = path.join(folder, 'elsewhere');
  await mkdir(data);
  await (await openStorage({ kind: 'sqlite', path: path.join(data, 'interlude.db') })).close();
  const refused = await interludeIn(data, 'turns');
  expect([refused.code, refused.errors]).toEqual([1, expect.stringContaining('There are no keys in ')]);
  expect(existsSync(path.join(data, 'keys'))).toBe(false);
});

test('what cannot be done is said with what can', patient, async () => {
  const [unknown, asleep] = await Promise.all([
    interlude('cancel', 'nothing'),
    interlude('turns', '--state', 'asleep'),
  ]);
  expect(unknown).toMatchObject({
    code: 1,
    errors: expect.stringContaining('There is no turn and no question nothing.'),
  });
  expect(asleep).toMatchObject({
    code: 2,
    errors: expect.stringContaining('waiting, working, cancelling, completed'),
  });
});
