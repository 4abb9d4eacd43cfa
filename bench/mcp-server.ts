/**
 * Our agents' tools as a client of MCP calls them: a question in each way of asking, against a plain call and against a bare
 * SDK server that asks the same.
 */
import { fileURLToPath } from 'node:url';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { Way as ServerWay } from './doubles/asking.ts';
import { answer } from './doubles/asking-tools.ts';
import { median } from './report.ts';
import type { Row, Section } from './report.ts';
import { breath, setUp, timed } from './setup.ts';
import type { BenchSetup } from './setup.ts';

/** What the client declares, its revision, and the bare server that speaks it. */
const ways = {
  'input required': { isModern: true, elicitation: { form: {} }, bare: 'rounds' },
  pushed: { isModern: false, elicitation: {}, bare: 'left' },
  'in words': { isModern: true, elicitation: null, bare: 'rounds' },
} as const satisfies Record<
  string,
  { isModern: boolean; elicitation: object | null; bare: Exclude<ServerWay, 'program'> }
>;

type Way = keyof typeof ways;

const agentsFile = fileURLToPath(new URL('tool-agents.yaml', import.meta.url));
const mcpPath = '/run/v1/mcp';

export async function mcpServer({ dependencies, client, samples }: BenchSetup): Promise<Section> {
  const env = { ...dependencies.env, INTERLUDE_CONFIG: agentsFile };
  await using setup = await setUp({ ...dependencies, env }, client, samples);
  const rows: Row[] = [];
  for (const way of Object.keys(ways) as Way[]) rows.push(...(await oneWay(setup, way)));
  return { title: 'A client of MCP calls a tool of ours', rows };
}

async function oneWay({ service, dependencies, samples, newUser }: BenchSetup, way: Way): Promise<Row[]> {
  const { headers } = await newUser();
  const { authorization = '' } = headers;
  const url = new URL(mcpPath, service.baseUrl);
  await using ours = await connect(way, url, { authorization });
  await using bare = await connect(way, new URL(dependencies.asking.urls[ways[way].bare]));
  const took = {
    plain: [] as number[],
    ask: [] as number[],
    barePlain: [] as number[],
    bareAsk: [] as number[],
  };
  const calls = {
    plain: () => call(ours, 'plain'),
    ask: () => (ways[way].elicitation ? call(ours, 'ask') : callInWords(ours)),
    barePlain: () => call(bare, 'plain'),
    // A bare server has no words for those that cannot be asked: two calls are the least that it takes.
    bareAsk: async () => {
      if (ways[way].elicitation) return call(bare, 'ask');
      await call(bare, 'plain');
      await call(bare, 'plain');
    },
  };
  const names = Object.keys(calls) as (keyof typeof calls)[];
  for (const name of names) await calls[name]();
  for (let sample = 0; sample < samples; sample++)
    for (const name of names) {
      await breath();
      took[name].push(await timed(calls[name]));
    }
  const added = Math.round(median(took.ask) - median(took.plain));
  return [
    {
      name: `${way}: question / call`,
      meaning: `a call with a question that is answered at once, against a plain call (+${added} ms)`,
      ours: took.ask,
      floor: took.plain,
      unit: 'ms',
    },
    {
      name: `${way}: question / bare`,
      meaning: ways[way].elicitation
        ? 'the same, against a bare SDK server that asks the same'
        : 'the same, against two plain calls of a bare SDK server, which has no such way of asking',
      ours: took.ask,
      floor: took.bareAsk,
      unit: 'ms',
    },
    {
      name: `${way}: call / bare`,
      meaning: 'a plain call, which is a durable turn with a tool’s workflow, against a bare SDK server',
      ours: took.plain,
      floor: took.barePlain,
      unit: 'ms',
    },
  ];
}

async function connect(
  way: Way,
  url: URL,
  headers: Record<string, string> = {},
): Promise<Client & AsyncDisposable> {
  const { isModern, elicitation } = ways[way];
  const client = new Client(
    { name: 'bench', version: '1' },
    {
      capabilities: elicitation ? { elicitation } : {},
      ...(isModern && { versionNegotiation: { mode: { pin: '2026-07-28' } } }),
    },
  );
  if (elicitation)
    client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: answer }));
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.close() });
}

async function call(client: Client, name: string, given: Record<string, unknown> = {}) {
  const result = await client.callTool({ name, arguments: given });
  if (result.isError) throw new Error(`${name} failed: ${JSON.stringify(result.content)}`);
  return result;
}

/** As a client's model does it that reads the question and asks its user. */
async function callInWords(client: Client): Promise<void> {
  const { _meta: meta } = await call(client, 'ask');
  const { elicitId } = (meta ?? {})['elicitationPending'] as { elicitId: string };
  await call(client, 'sendElicitationResult', { elicitId, action: 'accept', content: answer });
}
