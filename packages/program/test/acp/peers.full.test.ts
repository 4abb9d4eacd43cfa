/** Clients that others wrote: every end of every kind of question. */
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { createAcpRuntime, createAgentRegistry, createFileSessionStore } from 'acpx/runtime';
import type { AcpElicitationHandler, AcpPermissionHandler } from 'acpx/runtime';
import { beforeEach, describe, expect, inject, test } from 'vitest';
import { useAskingService } from '../../../../test/asking/asking-service.ts';
import { bareEnvironment } from '../../../../test/bare-environment.ts';
import { script } from '../../../../test/cli/start-command.ts';
import { pythonWith } from '../../../../test/programs/python-package.ts';
import { asks, form, page } from '../../../../test/servers/scripted-mcp-server.ts';
import { callOf } from '../../../../test/service/asking.ts';
import type { Service } from '../../../../test/service/service.ts';
import { testFolder } from '../../../../test/test-folder.ts';

/** Clients that others wrote, with `interlude acp` as the program that they start: what their user does is said beforehand. */
type PeerAnswer =
  | { action: 'accept'; content?: Record<string, string> }
  | { action: 'decline' | 'cancel' }
  /** Nothing, until the dialog is taken away. */
  | 'wait';

interface PeerSetting {
  /** To one question after the other. */
  answers?: PeerAnswer[];
  permit?: 'allow' | 'reject' | 'cancel';
}

/** What one prompt came to. */
interface PeerSaw {
  said: string;
  stopReason: string | undefined;
  calls: string[];
  asked: { mode: string; message: string }[];
  permissions: string[];
}

interface Peer {
  name: string;
  missing(): Promise<string | undefined>;
  prompt(service: Service, words: string, setting?: PeerSetting): Promise<PeerSaw>;
}

const pythonVersion = '0.12.1';
const waiting = (signal: AbortSignal) =>
  new Promise<never>((_, reject) =>
    signal.addEventListener('abort', () => reject(new Error('taken away')), { once: true }),
  );

async function commandLine(service: Service): Promise<string[]> {
  const file = path.join(testFolder(), 'token');
  writeFileSync(file, await service.token('alice'), { mode: 0o600 });
  return [process.execPath, script, 'acp', '--service', service.baseUrl, '--token-file', file];
}

/** acpx is built on an earlier version of the SDK. */
const acpx: Peer = {
  name: 'acpx',
  missing: () => Promise.resolve(undefined),
  async prompt(service, words, { answers = [], permit = 'reject' } = {}) {
    const saw: PeerSaw = { said: '', stopReason: undefined, calls: [], asked: [], permissions: [] };
    const onElicitation: AcpElicitationHandler = async ({ mode, message }, { signal }) => {
      saw.asked.push({ mode, message });
      const answer = answers[saw.asked.length - 1];
      if (answer === undefined) throw new Error(`asked too often: ${message}`);
      return answer === 'wait' ? waiting(signal) : answer;
    };
    const onPermissionRequest: AcpPermissionHandler = async ({ raw }) => {
      saw.permissions.push(raw.toolCall.title ?? '');
      return { outcome: permit === 'cancel' ? 'cancel' : permit === 'allow' ? 'allow_once' : 'reject_once' };
    };
    const cwd = testFolder();
    const acp = createAcpRuntime({
      cwd,
      sessionStore: createFileSessionStore({ stateDir: testFolder() }),
      agentRegistry: createAgentRegistry({
        overrides: { interlude: (await commandLine(service)).join(' ') },
      }),
      permissionMode: 'deny-all',
      onPermissionRequest,
      elicitationModes: ['form', 'url'],
    });
    const handle = await acp.ensureSession({
      sessionKey: 'one',
      agent: 'interlude',
      mode: 'persistent',
      cwd,
    });
    const requestId = crypto.randomUUID();
    const turn = acp.startTurn({ handle, text: words, mode: 'prompt', requestId, onElicitation });
    for await (const event of turn.events) {
      if (event.type === 'text_delta' && event.stream !== 'thought') saw.said += event.text;
      if (event.type === 'tool_call' && event.tag === 'tool_call') saw.calls.push(event.title ?? '');
    }
    const result = await turn.result;
    saw.stopReason = result.status === 'completed' ? result.stopReason : result.status;
    await acp.close({ handle, reason: 'over' });
    return saw;
  },
};

const pythonClient: Peer = {
  name: 'the Python SDK',
  async missing() {
    const python = await pythonWith('agent-client-protocol', pythonVersion);
    return python.kind === 'missing' ? python.why : undefined;
  },
  async prompt(service, words, { answers = [], permit = 'reject' } = {}) {
    const python = await pythonWith('agent-client-protocol', pythonVersion);
    if (python.kind === 'missing') throw new Error(python.why);
    const client = fileURLToPath(new URL('python-client.py', import.meta.url));
    const setting = JSON.stringify({ answers, permit });
    const child = spawn(python.executable, [client, setting, words, ...(await commandLine(service))], {
      env: bareEnvironment(),
    });
    const closed = new Promise((resolve) => child.once('close', resolve));
    const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
    if ((await closed) !== 0) throw new Error(errors);
    return JSON.parse(output) as PeerSaw;
  },
};

const setup = useAskingService();
const callAsk = callOf(['ask']);
const lisbon = { action: 'accept', content: { city: 'Lisbon' } } as const;
const cities = { city: { type: 'string', minLength: 2 } };
const asking = () => asks({ city: form('Which city?', cities, { required: ['city'] }) });
const answersOf = ({ server }: typeof setup) =>
  server.calls.map(({ params }) => params.inputResponses).filter((one) => one !== undefined);

/** Before a release. */
const refusals: (PeerAnswer & object)[] =
  inject('suite') === 'release' ? [{ action: 'decline' }, { action: 'cancel' }] : [];

describe.each([acpx, pythonClient])('$name', ({ missing, prompt }) => {
  beforeEach(async ({ skip }) => {
    const why = await missing();
    if (why !== undefined) skip(why);
  }, 240_000);

  test.each([lisbon, ...refusals])('a form: $action', async (given) => {
    setup.server.play(asking());
    expect(await prompt(setup.service, callAsk, { answers: [given] })).toMatchObject({
      said: 'done',
      stopReason: 'end_turn',
      calls: ['Asking · ask'],
      asked: [{ mode: 'form', message: expect.stringContaining('Which city?') }],
      permissions: [],
    });
    expect(answersOf(setup)).toEqual([{ city: given }]);
  });

  test('a form: what does not fit is asked again with the reason', async () => {
    setup.server.play(asking());
    const answers = [{ action: 'accept', content: { city: 'L' } } as const, lisbon];
    const { said, asked } = await prompt(setup.service, callAsk, { answers });
    expect(said).toBe('done');
    expect(asked[1]?.message).toContain('city: ');
    expect(answersOf(setup)).toEqual([{ city: lisbon }]);
  });

  test('a form: answered in another place, it is taken away and the prompt goes on', async () => {
    setup.server.play(asking());
    const prompted = prompt(setup.service, callAsk, { answers: ['wait'] });
    const open = async () => {
      const { body } = await setup.alice.request('GET', '/run/v1/elicitations');
      return body['items'] as { elicitationId: string; conversationId: string }[];
    };
    await expect.poll(open).toHaveLength(1);
    const [{ elicitationId, conversationId } = { elicitationId: '', conversationId: '' }] = await open();
    await setup.alice.answer({ elicitationId, conversationId, ...lisbon });
    expect(await prompted).toMatchObject({ said: 'done', stopReason: 'end_turn' });
    expect(answersOf(setup)).toEqual([{ city: lisbon }]);
  });

  test.each([{ action: 'accept' } as const, ...refusals])('a link: $action', async (given) => {
    setup.server.play(asks({ there: page('https://desk.example/pay') }));
    expect(await prompt(setup.service, callAsk, { answers: [given] })).toMatchObject({
      said: 'done',
      stopReason: 'end_turn',
      asked: [{ mode: 'url' }],
    });
    expect(answersOf(setup)).toEqual([{ there: given }]);
  });
});

describe('time is up', () => {
  const hurried = useAskingService({ env: { ELICITATION_TIMEOUT: '8s' } });

  test.for([acpx, pythonClient])(
    '$name: the dialog is taken away, and the prompt goes on',
    async (peer, { skip }) => {
      const why = await peer.missing();
      if (why !== undefined) skip(why);
      hurried.server.play(asking());
      const saw = await peer.prompt(hurried.service, callAsk, { answers: ['wait'] });
      expect(saw).toMatchObject({ stopReason: 'end_turn', asked: [{ mode: 'form' }] });
      expect(saw.said).toContain('expired');
      expect(answersOf(hurried)).not.toContainEqual({ city: lisbon });
    },
  );
});

describe('an approval', () => {
  const approving = useAskingService({
    env: { ASKING_APPROVAL: 'destructive' },
    annotations: { destructiveHint: true },
  });
  const peers = [acpx, pythonClient];
  const ends = [
    ['allow', 1],
    ['reject', 0],
    ['cancel', 0],
  ] as const;

  test.for(
    peers.flatMap((peer) => ends.map(([permit, calls]) => ({ peer, name: peer.name, permit, calls }))),
  )('$name: $permit', async ({ peer, permit, calls }, { skip }) => {
    const why = await peer.missing();
    if (why !== undefined) skip(why);
    approving.server.play();
    const saw = await peer.prompt(approving.service, callAsk, { permit });
    expect(saw).toMatchObject({ permissions: [expect.stringContaining('Approve this?')], asked: [] });
    expect(approving.server.calls).toHaveLength(calls);
  });
});

test('the program of acpx, which shows no questions: they are put in words', async () => {
  setup.server.play(asking());
  const cli = fileURLToPath(new URL('../../../../node_modules/acpx/dist/cli.js', import.meta.url));
  const command = (await commandLine(setup.service)).join(' ');
  const words = ['--agent', command, '--format', 'text', 'exec', callAsk];
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
