/** `interlude acp` as a program: whose it is, what it keeps to itself, how it ends. */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { useAskingService } from '../../../../test/asking/asking-service.ts';
import { freePort } from '../../../../test/free-port.ts';
import { testFolder } from '../../../../test/test-folder.ts';
import { startCommand } from '../../../../test/cli/start-command.ts';
import { startProgram } from './program.ts';
import type { Line, Program } from './program.ts';

const setup = useAskingService();
const folder = { cwd: '/project', mcpServers: [] };
const hello = { protocolVersion: 1, clientCapabilities: {} };

async function newSession(program: Program): Promise<Line> {
  await program.ask('initialize', hello);
  return program.ask('session/new', folder);
}

test.each([
  ['an option that it does not have', ['--agnet', 'assistant'], 'Did you mean --agent'],
  ['an address that is none', ['--service', 'nowhere'], 'It is not a URL'],
  ['an address in the clear', ['--service', 'http://agents.example'], 'https://'],
  ['a port that is none', ['--listen', 'x'], 'It is not a port'],
])('%s ends it with words on stderr and nothing on stdout', async (_, words, expected) => {
  const end = await startCommand(['acp', ...words], {});
  expect(end).toMatchObject({ output: '', errors: expect.stringContaining(expected) });
  expect(end.code).toBe(words[0] === '--service' && words[1] !== 'nowhere' ? 1 : 2);
});

test('a service that is not there is an error in words, and the program stays', async () => {
  const program = startProgram(['--service', `http://127.0.0.1:${await freePort()}`]);
  expect((await newSession(program)).error).toMatchObject({
    code: -32000,
    message: expect.stringContaining('does not answer'),
  });
  expect(await program.end()).toBe(0);
});

test('an agent that is none', async () => {
  const program = startProgram(['--service', setup.service.baseUrl, '--agent', 'nobody'], {
    INTERLUDE_TOKEN: await setup.service.token('alice'),
  });
  expect((await newSession(program)).error).toMatchObject({
    code: -32602,
    message: expect.stringContaining('assistant, lead'),
  });
  expect(await program.end()).toBe(0);
});

test('a token that is not taken means: authenticate', async () => {
  const program = startProgram(['--service', setup.service.baseUrl], { INTERLUDE_TOKEN: 'nonsense' });
  expect((await newSession(program)).error).toMatchObject({ code: -32000 });
  expect((await program.ask('authenticate', { methodId: 'browser-login' })).error).toMatchObject({
    code: -32602,
  });
  expect(await program.end()).toBe(0);
  expect(program.errors()).not.toContain('nonsense');
});

test('a token in a file is read anew when it is needed, and is nowhere else', async () => {
  const file = path.join(testFolder(), 'token');
  const token = await setup.service.token('alice');
  writeFileSync(file, `${token}\n`, { mode: 0o600 });
  const program = startProgram(['--service', setup.service.baseUrl, '--token-file', file]);
  const { result } = await newSession(program);
  const sessionId = String(result?.['sessionId']);
  setup.service.begun(sessionId);
  const prompt = [{ type: 'text', text: 'hello' }];
  expect((await program.ask('session/prompt', { sessionId, prompt })).result).toEqual({
    stopReason: 'end_turn',
  });
  const { pid } = program.child;
  for (const name of ['cmdline', 'environ'])
    expect(readFileSync(`/proc/${pid}/${name}`, 'utf8')).not.toContain(token);
  expect(await program.end()).toBe(0);
  expect(JSON.stringify(program.lines) + program.errors()).not.toContain(token);
});

test('an editor that is killed takes the program with it, and not the turn', async () => {
  const program = startProgram(['--service', setup.service.baseUrl], {
    INTERLUDE_TOKEN: await setup.service.token('alice'),
  });
  await newSession(program);
  program.child.stdout.destroy();
  expect(await program.end()).toBe(0);
});

test('where nobody has signed in, the editor is told how', async () => {
  const program = startProgram(['--service', setup.service.baseUrl], { XDG_CONFIG_HOME: testFolder() });
  const { result } = await program.ask('initialize', hello);
  expect(result).toMatchObject({
    authMethods: [{ id: 'browser-login', name: 'Sign in with your browser' }],
    agentCapabilities: { auth: { logout: {} } },
  });
  for (const method of ['session/new', 'session/load', 'session/list'])
    expect((await program.ask(method, { sessionId: 'one', ...folder })).error).toMatchObject({
      code: -32000,
      message: expect.stringContaining('npx interlude login'),
    });
  expect(await program.end()).toBe(0);
});
