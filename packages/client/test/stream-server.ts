/** A small server that speaks the UI message stream, and misbehaves on request. */
import { onTestFinished } from 'vitest';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { serve } from '../../../test/servers/serve.ts';

export interface StreamServer {
  url: string;
  port: number;
  requests: { method: string; path: string; headers: IncomingMessage['headers']; body: unknown }[];
  stop(): Promise<void>;
}

/** `nth` counts the requests to the same path and conversation from 0. */
export type Reply = (
  response: ServerResponse,
  nth: number,
  path: string,
  body: unknown,
) => void | Promise<void>;

export async function startStreamServer(reply: Reply, port = 0): Promise<StreamServer> {
  const requests: StreamServer['requests'] = [];
  const counts = new Map<string, number>();
  const { origin, stop, ...served } = await serve(({ request, response, body: text }) => {
    const body: unknown = text === '' ? undefined : JSON.parse(text);
    const path = request.url ?? '';
    requests.push({ method: request.method ?? '', path, headers: request.headers, body });
    const key = `${path} ${conversationOf(body)}`;
    const nth = counts.get(key) ?? 0;
    counts.set(key, nth + 1);
    return reply(response, nth, path, body);
  }, port);
  return { url: origin, port: served.port, requests, stop };
}

/** Stops when the test ends. */
export async function serveStream(reply: Reply): Promise<StreamServer> {
  const server = await startStreamServer(reply);
  onTestFinished(() => server.stop());
  return server;
}

export function conversationOf(body: unknown): string {
  return typeof body === 'object' && body !== null && 'id' in body ? String(body.id) : '';
}

export function beginStream(response: ServerResponse, turnId = 'turn-1'): void {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'x-turn-id': turnId });
}

export function toEvents(chunks: object[]): string {
  return chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('');
}

export function sendStream(response: ServerResponse, chunks: object[], turnId?: string): void {
  beginStream(response, turnId);
  response.end(`: stream-open\n\n${toEvents(chunks)}data: [DONE]\n\n`);
}

export function sendProblem(response: ServerResponse, status: number, problem: object, headers = {}): void {
  response.writeHead(status, { 'content-type': 'application/problem+json', ...headers });
  response.end(JSON.stringify({ status, ...problem }));
}

export function question(status: string, elicitationId = 'q1'): object {
  const data = {
    type: 'elicitation-request',
    elicitationId,
    mode: 'url',
    message: 'Tracker needs your account to run list issues.',
    url: `http://127.0.0.1:3000/auth/connect?e=${elicitationId}`,
    context: {
      trigger: 'credential_required',
      agent: 'assistant',
      server: 'tracker',
      serverTitle: 'Tracker',
      host: '127.0.0.1:3002',
    },
    status,
    expiresAt: '2030-01-01T00:00:00.000Z',
  };
  return { type: 'data-elicitation-request', id: elicitationId, data };
}

export const toolCall = {
  type: 'tool-input-available',
  toolCallId: 'call-1',
  toolName: 'tracker__list_issues',
  input: { state: 'open' },
  dynamic: true,
};

/** A turn that speaks, asks, is answered, uses the tool and speaks again; with letters of every UTF-8 length. */
export const wholeTurn: object[] = [
  { type: 'start', messageId: 'm1' },
  { type: 'start-step' },
  { type: 'text-start', id: 't1' },
  { type: 'text-delta', id: 't1', delta: 'Let me ' },
  { type: 'text-delta', id: 't1', delta: 'look – gleich, 見て 👀.' },
  { type: 'text-end', id: 't1' },
  toolCall,
  { type: 'finish-step' },
  question('pending'),
  question('accept'),
  { type: 'tool-output-available', toolCallId: 'call-1', output: { content: [] }, dynamic: true },
  { type: 'start-step' },
  { type: 'text-start', id: 't2' },
  { type: 'text-delta', id: 't2', delta: 'Three issues:\n' },
  { type: 'text-delta', id: 't2', delta: '- one\n- two\n- three' },
  { type: 'text-end', id: 't2' },
  { type: 'finish-step' },
  { type: 'finish' },
];
