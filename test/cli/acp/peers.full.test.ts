/** Clients that others wrote, with `interlude acp` as the program that they start. */
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { createAcpRuntime, createAgentRegistry, createFileSessionStore } from 'acpx/runtime';
import type { AcpElicitationHandler } from 'acpx/runtime';
import { beforeAll, expect, test } from 'vitest';
import { useAskingService } from '../../asking/asking-service.ts';
import { bareEnvironment } from '../../bare-environment.ts';
import { pythonWith } from '../../programs/python-package.ts';
import type { Python } from '../../programs/python-package.ts';
import { asks, form, page } from '../../servers/playing-server.ts';
import { callOf } from '../../service/asking.ts';
import { testFolder } from '../../test-folder.ts';
import { script } from './program.ts';

const setup = useAskingService();
const callAsk = callOf(['ask']);
const lisbon = { action: 'accept', content: { city: 'Lisbon' } } as const;
let python: Python;
beforeAll(async () => {
  python = await pythonWith('agent-client-protocol', '0.12.1');
}, 120_000);

const answers = () =>
  setup.server.calls.map(({ params }) => params.inputResponses).filter((one) => one !== undefined);

async function commandLine(): Promise<string> {
  const words = [
    process.execPath,
    script,
    'acp',
    '--service',
    setup.service.baseUrl,
    '--token-file',
    await tokenFile(),
  ];
  return words.join(' ');
}

async function tokenFile(): Promise<string> {
  const file = path.join(testFolder(), 'token');
  writeFileSync(file, await setup.service.token('alice'), { mode: 0o600 });
  return file;
}

/** acpx is built on an earlier version of the SDK. */
async function runtime() {
  const cwd = testFolder();
  const acp = createAcpRuntime({
    cwd,
    sessionStore: createFileSessionStore({ stateDir: testFolder() }),
    agentRegistry: createAgentRegistry({ overrides: { interlude: await commandLine() } }),
    permissionMode: 'deny-all',
    elicitationModes: ['form', 'url'],
  });
  const handle = await acp.ensureSession({ sessionKey: 'one', agent: 'interlude', mode: 'persistent', cwd });
  return {
    async turn(text: string, onElicitation: AcpElicitationHandler) {
      const turn = acp.startTurn({
        handle,
        text,
        mode: 'prompt',
        requestId: crypto.randomUUID(),
        onElicitation,
      });
      let said = '';
      for await (const event of turn.events)
        if (event.type === 'text_delta' && event.stream !== 'thought') said += event.text;
      return { said, result: await turn.result };
    },
    close: () => acp.close({ handle, reason: 'over' }),
  };
}

test('acpx with handlers: a form, a link, and their ends', async () => {
  const acp = await runtime();
  const asked: unknown[] = [];
  setup.server.play(asks({ city: form('Which city?') }));
  const first = await acp.turn(callAsk, async (request) => {
    asked.push(request);
    return lisbon;
  });
  expect(first).toMatchObject({ said: 'done', result: { status: 'completed', stopReason: 'end_turn' } });
  expect(answers()).toMatchObject([{ city: lisbon }]);
  expect(asked).toMatchObject([{ mode: 'form', message: expect.stringContaining('Which city?') }]);
  setup.server.play(asks({ page: page('https://desk.example/pay') }));
  expect(await acp.turn(callAsk, async () => ({ action: 'accept' }))).toMatchObject({ said: 'done' });
  for (const action of ['decline', 'cancel'] as const) {
    setup.server.play(asks({ city: form('Which city?') }));
    expect((await acp.turn(callAsk, async () => ({ action }))).result).toMatchObject({ status: 'completed' });
    expect(answers()).toMatchObject([{ city: { action } }]);
  }
  await acp.close();
});

test('the program of acpx, which shows no questions: they are put in words', async () => {
  setup.server.play(asks({ city: form('Which city?') }));
  const cli = fileURLToPath(new URL('../../../node_modules/acpx/dist/cli.js', import.meta.url));
  const words = ['--agent', await commandLine(), '--format', 'text', 'exec', callAsk];
  const child = spawn(process.execPath, [cli, ...words], {
    cwd: testFolder(),
    env: { ...bareEnvironment(), HOME: testFolder() },
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output += text));
  expect(await new Promise((resolve) => child.once('close', resolve)), output).toBe(0);
  expect(output).toContain('Which city?');
  expect(output).toContain('Answer in your next message');
  await setup.service.endTurns();
});

test('the client of the Python SDK: words, a tool call, and a form', async ({ skip }) => {
  if (python.kind === 'missing') return skip(python.why);
  setup.server.play(asks({ city: form('Which city?') }));
  const client = fileURLToPath(new URL('python-client.py', import.meta.url));
  const child = spawn(python.executable, [client, callAsk, ...(await commandLine()).split(' ')], {
    env: bareEnvironment(),
  });
  let output = '';
  let errors = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
  expect(await new Promise((resolve) => child.once('close', resolve)), errors).toBe(0);
  expect(JSON.parse(output)).toMatchObject({
    protocolVersion: 1,
    stopReason: 'end_turn',
    said: 'done',
    calls: ['Asking · ask'],
    asked: [expect.stringContaining('Which city?')],
  });
  expect(answers()).toMatchObject([{ city: lisbon }]);
});
