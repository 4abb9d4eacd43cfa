/** The service is killed with -9 under an editor: the program waits, says so, and goes on. */
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { Readable, Writable } from 'node:stream';
import { ndJsonStream } from '@agentclientprotocol/sdk';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { bareEnvironment } from '../../../../test/bare-environment.ts';
import { createDeployment, showOutput } from '../../../../test/e2e/deployment.ts';
import type { Deployment } from '../../../../test/e2e/deployment.ts';
import type { ServiceProcess } from '../../../../test/e2e/processes.ts';
import { createOpenAIServer } from '../../../../test/servers/openai-server.ts';
import { connectAccount } from '../../../../test/service/connect-account.ts';
import { playEditor } from './editor.ts';
import type { PlayedEditor } from './editor.ts';
import { script } from '../../../../test/cli/start-command.ts';

let deployment: Deployment;
let service: ServiceProcess;

beforeAll(async () => {
  deployment = await createDeployment();
  service = await deployment.start('start');
});
afterAll(() => deployment.stop());
afterEach(showOutput(() => deployment));

async function openProgram(at = deployment): Promise<PlayedEditor> {
  const words = ['acp', '--service', at.baseUrl, '--token-file', await tokenFile(at)];
  const child = spawn(process.execPath, [script, ...words], {
    env: bareEnvironment(),
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  at.defer(() => child.kill());
  const input = Readable.toWeb(child.stdout) as ReadableStream<Uint8Array>;
  return playEditor(ndJsonStream(Writable.toWeb(child.stdin), input));
}

async function tokenFile(at: Deployment): Promise<string> {
  const file = path.join(at.dataDir, 'token');
  writeFileSync(file, await at.token('alice'), { mode: 0o600 });
  return file;
}

const thoughts = (editor: PlayedEditor) =>
  editor.updates.flatMap(({ update }) =>
    update.sessionUpdate === 'agent_thought_chunk' && update.content.type === 'text'
      ? [update.content.text]
      : [],
  );

test(
  'while a question is open: its dialog stays, and the prompt ends as if nothing had been',
  { timeout: 120_000 },
  async () => {
    const editor = await openProgram();
    let decide = (_: object) => {};
    editor.person = { answer: () => new Promise((resolve) => (decide = resolve)) };
    const id = await editor.newSession();
    const prompted = editor.prompt(id, 'list my open issues');
    await editor.until(() => editor.elicitations.length === 1);
    await service.kill('SIGKILL');
    await editor.until(() => thoughts(editor).length === 1);
    expect(thoughts(editor)[0]).toContain('does not answer');
    service = await deployment.start('start');
    await editor.until(() => thoughts(editor).length === 2);
    expect([editor.withdrawn, editor.completed]).toEqual([0, []]);
    decide({ action: 'accept' });
    const [asked] = editor.elicitations;
    if (!asked || !('url' in asked)) throw new Error('no link was asked about');
    await connectAccount('alice', String(asked.url));
    expect(await prompted).toEqual({ stopReason: 'end_turn' });
    expect(editor.completed).toEqual([asked['elicitationId']]);
    expect(editor.said(id)).toMatch(/^Here they are: #\d+ /);
    expect(editor.elicitations).toHaveLength(1);
    expect(deployment.tracker.calls.filter(({ tool }) => tool === 'list_issues')).toHaveLength(1);
    editor.close();
  },
);

test('before a prompt: it is sent once the service is back', async () => {
  const editor = await openProgram();
  const id = await editor.newSession();
  await service.kill('SIGKILL');
  const prompted = editor.prompt(id, 'hello');
  await editor.until(() => thoughts(editor).length === 1);
  service = await deployment.start('start');
  expect(await prompted).toEqual({ stopReason: 'end_turn' });
  expect(editor.said(id)).not.toBe('');
  editor.close();
});

test(
  'in the middle of the model’s words: the editor is told that they were cut off, and has all of them once after it',
  { timeout: 120_000 },
  async () => {
    const model = await createOpenAIServer({
      reply: (_, index) =>
        index === 0
          ? { kind: 'hang', chunks: ['One ', 'two '] }
          : { kind: 'text', chunks: ['One ', 'two ', 'three.'] },
    });
    const speaking = await createDeployment();
    speaking.defer(() => model.stop());
    try {
      const file = path.join(speaking.dataDir, 'speaking.yaml');
      writeFileSync(
        file,
        `providers: { openai-compatible: { baseURL: '${model.baseURL}' } }
agents: { assistant: { model: 'openai-compatible:any' } }
`,
      );
      speaking.environment['INTERLUDE_CONFIG'] = file;
      const first = await speaking.start('start');
      const editor = await openProgram(speaking);
      const id = await editor.newSession();
      const prompted = editor.prompt(id, 'count');
      await editor.until(() => editor.said(id) === 'One two ');
      await first.kill('SIGKILL');
      await editor.until(() => thoughts(editor).length === 1);
      await speaking.start('start');
      expect(await prompted).toEqual({ stopReason: 'end_turn' });
      const cutOff = '\n\n*That was cut off; the agent begins again.*\n\n';
      expect(editor.said(id)).toBe(`One two ${cutOff}One two three.`);
      expect(thoughts(editor)).toEqual([expect.stringContaining('does not answer'), expect.any(String)]);
      editor.close();
    } finally {
      await speaking.stop();
    }
  },
);
