/**
 * docs/testing-servers.md, followed by somebody who has nothing but the package: its files are written into an empty folder,
 * and its commands are run there as they stand on the page, but for addresses and the key.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { parse } from 'yaml';
import { createApiKey } from '../../src/service/api-keys.ts';
import { asTurn, roundsAgents } from '../asking/asking-service.ts';
import type { AskedTurn } from '../asking/asking-service.ts';
import { bareEnvironment } from '../bare-environment.ts';
import { startBookingServer } from '../servers/booking-server.ts';
import type { BookingServer } from '../servers/booking-server.ts';
import { callOf, startAsking } from '../service/asking.ts';
import type { Service } from '../service/service.ts';
import { useDevelopmentServer } from '../service/use-development-server.ts';
import { installPackages, withTools } from './installed.ts';
import type { Project } from './installed.ts';

// Each command is a process.
vi.setConfig({ testTimeout: 120_000 });

const page = readFileSync(new URL('../../docs/testing-servers.md', import.meta.url), 'utf8');
const blocks = [...page.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(([, language = '', text = '']) => ({
  language,
  text,
}));
const files = new Map(
  blocks.flatMap(({ text }) => {
    const [, name] = /^(?:\/\/|#) ([\w./-]+\.\w+)\n/.exec(text) ?? [];
    return name === undefined ? [] : [[name, text]];
  }),
);
const commands = blocks
  .filter(({ language }) => language === 'sh')
  .flatMap(({ text }) => text.split('\n').filter((line) => line !== ''));
const steps = (
  parse(files.get('.github/workflows/tools.yml') ?? '') as { jobs: { tools: { steps: { run?: string }[] } } }
).jobs.tools.steps.flatMap(({ run }) => run ?? []);

const temporal = useDevelopmentServer();
const stack = new AsyncDisposableStack();
let project: Project;
let booking: BookingServer;
let service: Service;
let key: string;
let responder: string;

beforeAll(async () => {
  const [installed, server] = await Promise.all([
    installPackages([
      'vitest',
      '@modelcontextprotocol/server',
      '@modelcontextprotocol/client',
      '@modelcontextprotocol/sdk',
      'zod',
    ]),
    startBookingServer('rounds'),
  ]);
  [project, booking] = [installed, server];
  stack.defer(() => project.remove());
  stack.defer(() => booking.stop());
  for (const [name, text] of files) {
    mkdirSync(path.dirname(path.join(project.folder, name)), { recursive: true });
    writeFileSync(path.join(project.folder, name), text);
  }
  service = await startAsking({
    temporal,
    url: booking.config.url,
    env: { INTERLUDE_CONFIG: roundsAgents },
  });
  stack.defer(() => service.stop());
  key = await createApiKey(service.storage, 'demo', null, { actsForUsers: true });
  responder = await startResponder();
}, 180_000);
afterAll(() => stack.disposeAsync());

/** Answers every question with four nights. */
async function startResponder(): Promise<string> {
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => (body += text));
    request.on('end', () => {
      const { inputRequests } = JSON.parse(body) as { inputRequests: object };
      response.end(
        JSON.stringify({ inputResponses: Object.keys(inputRequests).map((id) => ({ id, value: 4 })) }),
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  stack.defer(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/answers`;
}

/** The only command of the page that has these words. */
function commandWith(words: string): string {
  const found = commands.filter((line) => line.includes(words));
  expect(found).toHaveLength(1);
  return found[0] ?? '';
}

interface Ending {
  code: number | null;
  output: string;
  errors: string;
}

/** `as: 'npx'`: as it stands on the page. */
function shell(
  command: string,
  env: Record<string, string> = {},
  typed = '',
  as: 'npx' | 'program' = 'program',
): Promise<Ending> {
  const line = command
    // Where npx finds them, a second later.
    .replaceAll(/\bnpx (interlude|vitest)\b/g, as === 'npx' ? '$&' : '$1')
    .replaceAll('http://127.0.0.1:3000/mcp', booking.config.url)
    .replaceAll('https://qa.example/answers', responder)
    .replaceAll('https://interlude.example', service.baseUrl);
  const child = spawn('sh', ['-c', line], {
    cwd: project.folder,
    env: {
      ...bareEnvironment(),
      HOME: project.folder,
      PATH: [path.join(project.folder, 'node_modules/.bin'), withTools()['PATH']].join(path.delimiter),
      PORT: new URL(service.baseUrl).port,
      ...env,
    },
  });
  const end = { output: '', errors: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (end.output += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (end.errors += text));
  child.stdin.end(typed);
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, ...end })));
}

async function askAlice(): Promise<AskedTurn> {
  const alice = await service.as('alice');
  const turn = await asTurn(alice, crypto.randomUUID(), (conversation) =>
    alice.chat(callOf(['book', { city: 'Rome' }]), { conversation }),
  );
  await turn.question(0);
  return turn;
}

test('tools are listed; a call is answered from the file, and fails where nobody can', async () => {
  const [list = ''] = commands;
  expect(await shell(list, {}, '', 'npx')).toMatchObject({
    code: 0,
    output: expect.stringContaining('book'),
  });
  expect(await shell(commandWith('# call one'))).toMatchObject({
    code: 3,
    errors: expect.stringContaining('How many nights in Rome?'),
  });
  expect(await shell(commandWith('answers.yaml -- node server.js'))).toMatchObject({
    code: 0,
    output: 'booked Rome for 3 nights\n',
  });
});

test('the matchers and functions work with clients and servers of both SDK generations', async () => {
  const file = path.join(project.folder, 'generations.test.mjs');
  renameSync(path.join(project.folder, 'generations.mjs'), file);
  const { code, output } = await shell('npx vitest run generations.test.mjs');
  rmSync(file);
  expect(code, output).toBe(0);
  expect(stripVTControlCharacters(output)).toMatch(/Tests +5 passed/);
});

test('a server is linted: what it needs to be called with comes from the file', async () => {
  expect(await shell(commandWith('lint-server --calls calls.yaml http'))).toMatchObject({
    code: 0,
    output: expect.stringContaining('asked 2 questions'),
  });
  expect(await shell(commandWith('lint-server --calls calls.yaml --strict'))).toMatchObject({ code: 0 });
  const findings = readFileSync(path.join(project.folder, 'findings.json'), 'utf8');
  expect(JSON.parse(findings)).toMatchObject({ tools: [{ name: 'book', questions: 2 }], findings: [] });
});

test('a recording is made, compared, and served', async () => {
  const recorded = await shell(commandWith('--record booking.yaml'));
  expect(recorded).toMatchObject({ code: 0, output: 'book: Rome for 3\n' });
  expect(await shell(commandWith('--replay booking.yaml'))).toMatchObject({
    code: 0,
    errors: expect.stringContaining('1 of 1 calls'),
  });
  const serve = commandWith('interlude replay').replace('replay', 'replay --stdio').replace(/ *#.*/, '');
  const served = await shell(
    `npx interlude try --tool book --args city=Rome --answers answers.yaml -- ${serve}`,
  );
  expect(served).toMatchObject({ code: 0, output: 'book: Rome for 3\n' });
});

test('the steps of the workflow pass, and fail when the server changes', async () => {
  const [install, ...runs] = steps;
  expect(install).toBe('npm ci');
  const made = 'npx interlude try --tool book --args city=Rome --answers answers.yaml --record booking.yaml';
  await shell(`${made} -- node server.js`);
  for (const run of runs) expect(await shell(run), run).toMatchObject({ code: 0 });
  const file = path.join(project.folder, 'server.js');
  writeFileSync(file, (files.get('server.js') ?? '').replace('How many nights', 'How long'));
  // The file of answers knows the form by its field as well.
  for (const [at, run] of runs.entries()) expect((await shell(run)).code, run).toBe([1, 0, 1][at]);
});

test('a running service is answered by key, by login and in code', async () => {
  const forAlice = commandWith('--for alice').replace('"$KEY"', key);
  let turn = await askAlice();
  expect(await shell(`${forAlice} --once`)).toMatchObject({ code: 0 });
  expect(await turn.end()).toMatchObject({ text: expect.any(String), error: undefined });
  expect(booking.done.at(-1)).toBe('book Rome for 4');

  turn = await askAlice();
  const own = { INTERLUDE_TOKEN: await service.token('alice') };
  expect(await shell(commandWith('--once --timeout 60s'), own)).toMatchObject({ code: 0 });
  await turn.end();
  expect(booking.done.at(-1)).toBe('book Rome for 3');

  const chat = commandWith('chat --answers');
  const said = await shell(chat, own, `${callOf(['book', { city: 'Oslo' }])}\n`);
  expect(said).toMatchObject({
    code: 0,
    output: expect.stringContaining('Answered by answers.yaml: accept'),
  });
  expect(booking.done.at(-1)).toBe('book Oslo for 3');

  const program = path.join(project.folder, 'book-a-room.ts');
  const code = files.get('book-a-room.ts') ?? '';
  const words = JSON.stringify(callOf(['book', { city: 'Bonn' }]));
  writeFileSync(
    program,
    code.replace('http://127.0.0.1:3000', service.baseUrl).replace("'Book a room.'", words),
  );
  expect(await shell('node book-a-room.ts', own)).toMatchObject({
    code: 0,
    output: expect.stringMatching(/completed\n$/),
  });
  expect(booking.done.at(-1)).toBe('book Bonn for 3');
});
