/** Bodies in, pages and JSON out. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Shown } from './callback.ts';
import { Refusal } from './refusal.ts';

export function show(response: ServerResponse, { status, headers, html }: Shown): void {
  response.writeHead(status, { 'content-type': 'text/html; charset=utf-8', ...headers }).end(html);
}

export function answerJson(response: ServerResponse, status: number, body: unknown, headers = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(body === undefined ? undefined : JSON.stringify(body));
}

export async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString();
  try {
    return text === '' ? undefined : JSON.parse(text);
  } catch {
    throw new Refusal(400, 'invalid_body', { message: 'The body is not JSON' });
  }
}
