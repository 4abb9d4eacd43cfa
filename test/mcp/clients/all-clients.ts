/** The third-party MCP clients that call our agents in the tests, and how each is started. */
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { beforeEach } from 'vitest';
import { built, inPython } from './in-a-process.ts';
import { toTold } from './other-client.ts';
import type { AskedOfUser, ClientSetting, OtherClient, StartClient, UserAnswer } from './other-client.ts';
import { startAISDK, startSdkV1, startSdkV2 } from './typescript-clients.ts';
import { goProgram, rmcpProgram } from '../../programs/built-program.ts';
import { npmProgram } from '../../programs/npm-program.ts';
import { pythonWithFastMCP, pythonWithLangChain, pythonWithSdk } from '../../servers/fastmcp.ts';
import type { Service } from '../../service/service.ts';
import { testFolder } from '../../test-folder.ts';

/** The Inspector's command line: a process for each call, which declares no questions. */
const run = promisify(execFile);
const inspectorVersion = '2.12.0';
/** It exits with this where the tool says that it failed. */
const toolErrorCode = 5;

async function startInspector(era: 'legacy' | 'modern', { url, token }: ClientSetting): Promise<OtherClient> {
  const folder = await npmProgram('@modelcontextprotocol/inspector', inspectorVersion);
  const { default: manifest } = (await import(path.join(folder, 'package.json'), {
    with: { type: 'json' },
  })) as { default: { bin: Record<string, string> } };
  const program = path.join(folder, manifest.bin['mcp-inspector'] ?? '');
  const home = testFolder();
  return {
    async call(tool, given) {
      const pairs = Object.entries(given).map(
        ([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
      );
      const target = [
        '--cli',
        '--server-url',
        url,
        '--transport',
        'http',
        '--header',
        `Authorization: Bearer ${token}`,
      ];
      const what = ['--protocol-era', era, '--method', 'tools/call', '--tool-name', tool];
      const { stdout } = await run(process.execPath, [program, ...target, ...what, '--tool-arg', ...pairs], {
        env: { PATH: process.env['PATH'], HOME: home },
      }).catch((error: Error & { code?: unknown; stdout?: string }) => {
        if (error.code !== toolErrorCode) throw error;
        return { stdout: error.stdout ?? '' };
      });
      return toTold(JSON.parse(stdout));
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

export interface Row {
  name: string;
  start: StartClient;
  /** Speaks revision 2026-07-28: it makes the call again with its user's answers. */
  comesAgain?: true;
  /** What follows when its handler fails: the question goes to its model as text, or the client gives the call up. */
  whenUnable: 'in words' | 'gives up';
  /** Declares form mode only: questions with a link go to its model. */
  showsNoLinks?: true;
  /** Checks what its user answers itself, and fails to ask where it does not fit. */
  checksAnswers?: true;
  /** Calls listed tools only; `sendElicitationResult` is not listed to clients that declare both modes. */
  callsListedTools?: true;
  /** Why it cannot be run on this machine. */
  missing?: () => Promise<string | undefined>;
}

export const asking: Row[] = [
  { name: 'SDK v1', start: startSdkV1, whenUnable: 'in words' },
  { name: 'SDK v2, legacy', start: (s) => startSdkV2('legacy', s), whenUnable: 'in words' },
  { name: 'SDK v2, auto', start: (s) => startSdkV2('auto', s), whenUnable: 'gives up', comesAgain: true },
  { name: 'SDK v2, manual', start: (s) => startSdkV2('manual', s), whenUnable: 'gives up', comesAgain: true },
  { name: '@ai-sdk/mcp', start: startAISDK, whenUnable: 'gives up', comesAgain: true, showsNoLinks: true },
  {
    name: 'FastMCP 3',
    ...inPython('fastmcp', () => pythonWithFastMCP('third')),
    whenUnable: 'in words',
  },
  {
    name: 'FastMCP 4',
    ...inPython('fastmcp', () => pythonWithFastMCP('fourth')),
    whenUnable: 'gives up',
    comesAgain: true,
  },
  {
    name: 'SDK for Python 1',
    ...inPython('mcp', () => pythonWithSdk('first')),
    whenUnable: 'in words',
  },
  {
    name: 'SDK for Python 2, initialize',
    ...inPython('mcp', () => pythonWithSdk('second'), 'initialize'),
    whenUnable: 'in words',
  },
  {
    name: 'SDK for Python 2, auto',
    ...inPython('mcp', () => pythonWithSdk('second')),
    whenUnable: 'gives up',
    comesAgain: true,
  },
  {
    name: 'LangChain’s MCP adapters',
    ...inPython('langchain', pythonWithLangChain),
    whenUnable: 'in words',
    callsListedTools: true,
  },
  {
    name: 'SDK for Go, initialize',
    ...built(goProgram, 'initialize', ['sdk']),
    whenUnable: 'in words',
    checksAnswers: true,
  },
  {
    name: 'SDK for Go, auto',
    ...built(goProgram, 'auto', ['sdk']),
    whenUnable: 'gives up',
    checksAnswers: true,
    comesAgain: true,
  },
  {
    name: 'mcp-go, initialize',
    ...built(goProgram, 'initialize', ['mcp-go']),
    whenUnable: 'in words',
  },
  {
    name: 'mcp-go, auto',
    ...built(goProgram, 'auto', ['mcp-go']),
    whenUnable: 'gives up',
    comesAgain: true,
  },
  { name: 'rmcp, initialize', ...built(rmcpProgram, 'initialize'), whenUnable: 'in words' },
  { name: 'rmcp, auto', ...built(rmcpProgram, 'auto'), whenUnable: 'gives up', comesAgain: true },
];

export const unable: Pick<Row, 'name' | 'start' | 'missing'>[] = [
  ...asking,
  { name: 'Inspector, legacy', start: (s) => startInspector('legacy', s) },
  { name: 'Inspector, modern', start: (s) => startInspector('modern', s) },
];

interface Opened extends OtherClient {
  asked: AskedOfUser[];
  /** Ids of url questions that the service has notified the client of as complete. */
  pagesDone: string[];
}

type OpenClient = (
  start: StartClient,
  /** What its user does with one question after the other. */
  answers: ((question: AskedOfUser) => UserAnswer | Promise<UserAnswer>)[],
  shows?: { form?: true; url?: true },
) => Promise<Opened>;

/** Opens clients as Alice. `service` is called when a test runs, because it is started after this. */
export function opening(service: () => Service): OpenClient {
  return async (start, answers, shows = { form: true, url: true }) => {
    const asked: AskedOfUser[] = [];
    const pagesDone: string[] = [];
    const client = await start({
      url: `${service().baseUrl}/run/v1/mcp`,
      token: await service().token('alice'),
      shows,
      async answer(question) {
        asked.push(question);
        const next = answers[asked.length - 1];
        if (!next) throw new Error(`asked too often: ${question.message}`);
        return next(question);
      },
      onPageDone: (elicitationId) => void pagesDone.push(elicitationId),
    });
    return { ...client, asked, pagesDone };
  };
}

export function skipWhere(missing: Row['missing']): void {
  beforeEach(async ({ skip }) => {
    const why = await missing?.();
    if (why !== undefined) skip(why);
    // Rust's compiler takes its time.
  }, 900_000);
}
