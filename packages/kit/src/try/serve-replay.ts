/** A recording as a server over HTTP or on stdio, for a client under test. */
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import type { ReplayServer } from '../cassette/replay-server.ts';

interface Served {
  url: string;
  close(): void;
}

const mostBytes = 10 * 1024 * 1024;
/** A recording is for one client at a time. */
const session = 'replay';

export async function serveOverHttp(replay: ReplayServer, port: number): Promise<Served> {
  const http = createServer((request, response) => {
    answer(replay, request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => http.once('error', reject).listen(port, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${portOf(http)}/mcp`,
    close: () => [http.close(), http.closeAllConnections()],
  };
}

export async function serveOnStdio(
  replay: ReplayServer,
  { input, output }: { input: Readable; output: Writable },
): Promise<void> {
  const send = (message: JSONRPCMessage) => void output.write(`${JSON.stringify(message)}\n`);
  const running = new Set<Promise<void>>();
  for await (const line of createInterface({ input })) {
    const message = readJson(line);
    if (!message) continue;
    const work = replay.receive(message, send).finally(() => running.delete(work));
    running.add(work);
  }
}

async function answer(
  replay: ReplayServer,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (request.method !== 'POST') return void response.writeHead(405, { allow: 'POST' }).end();
  const message = readJson(await readBody(request));
  if (!message) return void response.writeHead(400).end();
  if (!('method' in message) || !('id' in message)) {
    await replay.receive(message, () => undefined);
    return void response.writeHead(202).end();
  }
  const isGreeting = message.method === 'initialize';
  response.writeHead(200, {
    'content-type': 'text/event-stream',
    'cache-control': 'no-store',
    ...(isGreeting && { 'mcp-session-id': session }),
  });
  await replay.receive(
    message,
    (said) => void response.write(`event: message\ndata: ${JSON.stringify(said)}\n\n`),
  );
  response.end();
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += (chunk as Buffer).byteLength;
    if (size > mostBytes) throw new Error('The message is too large.');
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks).toString();
}

function readJson(text: string): JSONRPCMessage | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as JSONRPCMessage) : null;
  } catch {
    return null;
  }
}

function portOf(http: Server): number {
  return (http.address() as AddressInfo).port;
}
