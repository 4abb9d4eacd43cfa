/**
 * The command that the official conformance suite runs: lists the tools of the server it is given and calls each of
 * them, through the code that turns use, and answers what it is asked like a person who accepts every form as it is
 * shown, and connects an account where one is needed. What it prints is for the log of a run that failed.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Credential } from '../../src/credentials/credential-store.ts';
import { defaultsOf, readRequestedSchema } from '@interlude-ai/core/elicitation/form/requested-schema.ts';
import type { AskUser, ToolCall } from '../../src/remote/remote-servers.ts';
import type { QuestionAnswer, ServerQuestion } from '@interlude-ai/core/mcp/input-required.ts';
import type { CatalogueTool } from '../../src/storage/schema/account-tables.ts';
import { serverConfig } from '../servers/mcp-server.ts';
import { openAccount } from './account.ts';
import { openRemoteServers } from '../../src/remote/open-remote-servers.ts';

const remote = openRemoteServers();

type Call = Pick<ToolCall, 'name' | 'arguments'>;

const nobody: Credential = { kind: 'credential', headers: {}, version: 0 };
/** For servers whose call waits on its connection. */
const hold: AskUser = {
  ask: (question) => Promise.resolve({ kind: 'answer', outcome: 'accept', answer: acceptAsShown(question) }),
  pageDone: () => undefined,
};
const signal = AbortSignal.timeout(20_000);
const wishes = JSON.parse(process.env['MCP_CONFORMANCE_CONTEXT'] ?? '{}') as {
  toolCalls?: Call[];
  client_id?: string;
  client_secret?: string;
};
const scenario = process.env['MCP_CONFORMANCE_SCENARIO'] ?? '';
const needsAccount = scenario.startsWith('auth/');
const [revision, url = ''] = process.argv.slice(-2);
const server = serverConfig(url, {
  // Servers of both eras are called in the older one otherwise, where more of them can ask.
  ...(revision === '2026-07-28' && { era: revision }),
  credentialScope: needsAccount ? 'user' : 'none',
  // A client that an operator registered by hand.
  ...(wishes.client_id !== undefined && {
    oauth: { clientId: wishes.client_id, clientSecretEnv: 'CLIENT_SECRET' },
  }),
});

const folder = await mkdtemp(path.join(tmpdir(), 'conformance-account-'));
const account = await openAccount({
  server,
  folder,
  // Only who is reached by https has a client id that is a document.
  publicUrl: scenario === 'auth/basic-cimd' ? 'https://interlude.example' : 'http://127.0.0.1:3000',
  secret: wishes.client_secret,
});
try {
  await run();
} finally {
  await account.close();
  await rm(folder, { recursive: true });
}

async function run(): Promise<void> {
  const credential = needsAccount ? await account.credential() : nobody;
  const tools = await list(credential);
  // It looks at what comes along with a call, and has no tool to call.
  const calls: Call[] =
    scenario === 'request-metadata'
      ? [{ name: 'any', arguments: {} }]
      : (wishes.toolCalls ?? tools.map((tool) => callOf(tool, tools)));
  await Promise.all(calls.map((wish, index) => make(wish, index, tools, credential)));
}

async function list(credential: Credential): Promise<CatalogueTool[]> {
  const listed = await remote.listTools(server, credential, signal);
  if (listed.kind === 'tools') return listed.tools;
  const next = listed.kind === 'refused' ? await account.after(credential, listed) : null;
  if (next === null) throw new Error(`no tools: ${JSON.stringify(listed)}`);
  return list(next);
}

/** All rounds of one call, as a turn makes them. */
async function make(
  wish: Call,
  index: number,
  tools: CatalogueTool[],
  credential: Credential,
): Promise<void> {
  const known = tools.find(({ name }) => name === wish.name);
  const call: ToolCall = {
    ...wish,
    ...(known && { inputSchema: known.inputSchema }),
    callId: `call-${index}`,
    capabilities: { form: true, url: true },
    askUser: hold,
    signal,
  };
  let outcome = await remote.callTool(server, credential, call);
  while (outcome.kind === 'asks') {
    const { questions, resume } = outcome.pause;
    const continuation = { resume, answers: questions.map(acceptAsShown) };
    outcome = await remote.callTool(server, credential, { ...call, continuation });
  }
  const next = outcome.kind === 'refused' ? await account.after(credential, outcome) : null;
  if (next !== null) return make(wish, index, tools, next);
  process.stdout.write(`${wish.name}: ${JSON.stringify(outcome)}\n`);
  // A scenario about listing has nothing behind its tools, and says so.
  if (outcome.kind !== 'result' && outcome.kind !== 'rejected') process.exitCode = 1;
}

function acceptAsShown({ key, request }: ServerQuestion): QuestionAnswer {
  if (request.mode === 'url') return { key, action: 'accept' };
  const form = readRequestedSchema(request.requestedSchema);
  if (form.kind === 'unsupported') throw new Error(form.reason);
  return { key, action: 'accept', content: defaultsOf(form.fields) };
}

/** What a model would send: a value of the right type for each required field. */
function callOf({ name, inputSchema }: CatalogueTool, tools: CatalogueTool[]): Call {
  const { properties = {}, required = [] } = inputSchema as {
    properties?: Record<string, { type?: string }>;
    required?: string[];
  };
  return {
    name,
    arguments: Object.fromEntries(required.map((field) => [field, sample(properties[field], tools)])),
  };
}

function sample(field: { type?: string } | undefined, tools: CatalogueTool[]): unknown {
  switch (field?.type) {
    case 'number':
    case 'integer':
      return 5;
    case 'object':
      // The one tool that wants an object wants to see how another tool's schema came through.
      return tools[0]?.inputSchema;
    default:
      return 'five';
  }
}
