/**
 * A server on standard input and output, to be started as a process: `node stdio-server.ts <era>`. Each start appends
 * a line to the file that STARTS names.
 */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import { McpServer as OldServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport as OldTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import {
  acceptedContent,
  createRequestStateCodec,
  inputRequired,
  inputResponse,
  McpServer,
} from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';
import { nights, Nights as answered, text } from './asking-tools.ts';

const [, , era = 'both'] = process.argv;
const { STARTS } = process.env;
if (STARTS !== undefined) appendFileSync(STARTS, `${process.pid}\n`);

// Programs say all sorts of things.
process.stdout.write('welcome to the stdio server\n');
process.stderr.write('a secret on stderr\n');

/** Known to this process alone, like much that such servers keep. */
const codec = createRequestStateCodec<{ step: number; trail: string }>({ key: randomBytes(32) });

function build(): McpServer {
  const server = new McpServer({ name: 'stdio', version: '1' }, { requestState: { verify: codec.verify } });
  server.registerTool('echo', { inputSchema: z.object({ text: z.string() }) }, ({ text: words }) =>
    text(words),
  );
  server.registerTool('environment', { inputSchema: z.object({}) }, () =>
    text(JSON.stringify({ variables: process.env, cwd: process.cwd() })),
  );
  server.registerTool('family', { inputSchema: z.object({}) }, () => {
    const child = spawn('sleep', ['600'], { stdio: 'inherit' });
    return text(JSON.stringify([process.pid, child.pid]));
  });
  server.registerTool('work', { inputSchema: z.object({}) }, async (_, context) => {
    const progressToken = context.mcpReq._meta?.progressToken ?? '';
    for (const progress of [1, 2]) {
      await context.mcpReq.notify({
        method: 'notifications/progress',
        params: { progressToken, progress, total: 2 },
      });
    }
    return text('worked');
  });
  server.registerTool('die', { inputSchema: z.object({}) }, () => process.exit(7));
  server.registerTool('hang', { inputSchema: z.object({}) }, () => {
    process.on('SIGTERM', () => undefined);
    setInterval(() => undefined, 1_000);
    process.stdin.on('end', () => undefined);
    appendFileSync(STARTS ?? '/dev/null', 'hanging\n');
    return new Promise(() => undefined);
  });
  server.registerTool('wait', { inputSchema: z.object({}) }, () => {
    appendFileSync(STARTS ?? '/dev/null', 'hanging\n');
    return new Promise(() => undefined);
  });
  server.registerTool('flood', { inputSchema: z.object({ megabytes: z.number() }) }, ({ megabytes }) =>
    text('x'.repeat(megabytes * 1024 * 1024)),
  );
  server.registerTool('book', { inputSchema: z.object({ city: z.string() }) }, ({ city }, context) => {
    const { inputResponses } = context.mcpReq;
    const given = inputResponse(inputResponses, 'nights');
    if (given.kind === 'missing') return inputRequired({ inputRequests: { nights: nights(city) } });
    const content = acceptedContent(inputResponses, 'nights', answered);
    return text(content ? `booked ${city} for ${content.nights}` : 'not booked');
  });
  server.registerTool('wizard', { inputSchema: z.object({}) }, async (_, context) => {
    const { step, trail } = context.mcpReq.requestState<{ step: number; trail: string }>() ?? {
      step: 0,
      trail: '',
    };
    const given = acceptedContent(context.mcpReq.inputResponses, `step${step}`, answered);
    if (step > 0 && !given) return text(`stopped at ${step}`);
    const next = { step: step + 1, trail: given ? `${trail}${given.nights},` : trail };
    if (next.step > 2) return text(`wizard ${next.trail}`);
    return inputRequired({
      inputRequests: { [`step${next.step}`]: nights(`city ${next.step}`) },
      requestState: await codec.mint(next),
    });
  });
  return server;
}

async function serveOld(): Promise<void> {
  const server = new OldServer({ name: 'old', version: '1' });
  server.registerTool('echo', { inputSchema: { text: z.string() } }, ({ text: words }) => text(words));
  server.registerTool('book', { inputSchema: { city: z.string() } }, async ({ city }) => {
    const { action, content } = await server.server.elicitInput({
      message: `How many nights in ${city}?`,
      requestedSchema: { type: 'object', properties: { nights: { type: 'integer' } } },
    });
    return text(action === 'accept' ? `booked ${city} for ${String(content?.['nights'])}` : 'not booked');
  });
  await server.connect(new OldTransport());
}

/** Ends when it is asked something before it was greeted, as some servers do. */
async function serveTouchy(): Promise<void> {
  process.stdin.once('data', (chunk: Buffer) => {
    if (!chunk.toString().includes('"initialize"')) process.exit(1);
  });
  await serveOld();
}

switch (era) {
  case 'both':
    serveStdio(build);
    break;
  case 'modern':
    serveStdio(build, { legacy: 'reject' });
    break;
  case 'old':
    await serveOld();
    break;
  case 'touchy':
    await serveTouchy();
    break;
  default:
    throw new Error(`unknown era ${era}`);
}
