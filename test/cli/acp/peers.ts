/** Clients that others wrote, with `interlude acp` as the program that they start: what their user does is said beforehand. */
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { createAcpRuntime, createAgentRegistry, createFileSessionStore } from 'acpx/runtime';
import type { AcpElicitationHandler, AcpPermissionHandler } from 'acpx/runtime';
import { bareEnvironment } from '../../bare-environment.ts';
import { pythonWith } from '../../programs/python-package.ts';
import type { Service } from '../../service/service.ts';
import { testFolder } from '../../test-folder.ts';
import { script } from './program.ts';

export type PeerAnswer =
  | { action: 'accept'; content?: Record<string, string> }
  | { action: 'decline' | 'cancel' }
  /** Nothing, until the dialog is taken away. */
  | 'wait';

export interface PeerSetting {
  /** To one question after the other. */
  answers?: PeerAnswer[];
  permit?: 'allow' | 'reject' | 'cancel';
}

/** What one prompt came to. */
export interface PeerSaw {
  said: string;
  stopReason: string | undefined;
  calls: string[];
  asked: { mode: string; message: string }[];
  permissions: string[];
}

export interface Peer {
  name: string;
  missing(): Promise<string | undefined>;
  prompt(service: Service, words: string, setting?: PeerSetting): Promise<PeerSaw>;
}

const pythonVersion = '0.12.1';
const waiting = (signal: AbortSignal) =>
  new Promise<never>((_, reject) =>
    signal.addEventListener('abort', () => reject(new Error('taken away')), { once: true }),
  );

export async function commandLine(service: Service): Promise<string[]> {
  const file = path.join(testFolder(), 'token');
  writeFileSync(file, await service.token('alice'), { mode: 0o600 });
  return [process.execPath, script, 'acp', '--service', service.baseUrl, '--token-file', file];
}

/** acpx is built on an earlier version of the SDK. */
export const acpx: Peer = {
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

export const pythonClient: Peer = {
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
