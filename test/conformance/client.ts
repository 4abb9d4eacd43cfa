/**
 * The command that the official conformance suite runs: lists the tools of the server it is given and calls each of
 * them, through the code that turns use, and answers what it is asked like a person who accepts every form as it is
 * shown. What it prints is for the log of a run that failed.
 */
import type { Credential } from '../../src/credentials/store.ts';
import { defaultsOf, readRequestedSchema } from '../../src/elicitation/requested-schema.ts';
import { callServerTool } from '../../src/mcp/call.ts';
import type { ServerToolCall } from '../../src/mcp/call.ts';
import type { Hold } from '../../src/mcp/hold.ts';
import { listServerTools } from '../../src/mcp/list.ts';
import type { QuestionAnswer, ServerQuestion } from '../../src/mcp/pause.ts';
import type { CatalogueTool } from '../../src/storage/storage.ts';
import { serverConfig } from '../peers/mcp-server.ts';

type Call = Pick<ServerToolCall, 'name' | 'arguments'>;

const nobody: Credential = { kind: 'credential', headers: {}, version: 0 };
/** For servers whose call waits on its connection. */
const hold: Hold = {
  ask: (question) => Promise.resolve({ kind: 'answer', answer: acceptAsShown(question) }),
  pageDone: () => undefined,
};
const signal = AbortSignal.timeout(20_000);
const server = serverConfig(process.argv.at(-1) ?? '', { credentialScope: 'none' });
const wishes = JSON.parse(process.env['MCP_CONFORMANCE_CONTEXT'] ?? '{}') as { toolCalls?: Call[] };

const tools = await list();
// It looks at what comes along with a call, and has no tool to call.
const isAboutRequests = process.env['MCP_CONFORMANCE_SCENARIO'] === 'request-metadata';
const calls: Call[] = isAboutRequests
  ? [{ name: 'any', arguments: {} }]
  : (wishes.toolCalls ?? tools.map(callOf));
await Promise.all(calls.map(make));

async function list(): Promise<CatalogueTool[]> {
  const listed = await listServerTools(server, nobody, signal);
  if (listed.kind !== 'tools') throw new Error(`no tools: ${JSON.stringify(listed)}`);
  return listed.tools;
}

/** All rounds of one call, as a turn makes them. */
async function make(wish: Call, index: number): Promise<void> {
  const known = tools.find(({ name }) => name === wish.name);
  const call: ServerToolCall = {
    ...wish,
    ...(known && { inputSchema: known.inputSchema }),
    callId: `call-${index}`,
    capabilities: { form: true, url: true },
    hold,
    signal,
  };
  let outcome = await callServerTool(server, nobody, call);
  while (outcome.kind === 'asks') {
    const { questions, resume } = outcome.pause;
    const goOn = { resume, answers: questions.map(acceptAsShown) };
    outcome = await callServerTool(server, nobody, { ...call, goOn });
  }
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

/** What a model would send: something of the right kind for whatever the tool requires. */
function callOf({ name, inputSchema }: CatalogueTool): Call {
  const { properties = {}, required = [] } = inputSchema as {
    properties?: Record<string, { type?: string }>;
    required?: string[];
  };
  return { name, arguments: Object.fromEntries(required.map((field) => [field, sample(properties[field])])) };
}

function sample(field: { type?: string } | undefined): unknown {
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
