/** A client's receiver of push notifications: records them and answers as the test sets. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingHttpHeaders, RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TaskPushNotificationConfig } from '@a2a-js/sdk';

export interface Received {
  path: string;
  headers: IncomingHttpHeaders;
  text: string;
  body: Body;
  at: number;
}

interface Told {
  id: string;
  taskId: string;
  status: { state: string };
  artifact: { parts: { text: string }[] };
}
type Body = Partial<Record<'task' | 'statusUpdate' | 'artifactUpdate', Told>> & Record<string, unknown>;

export interface PushTargetServer extends AsyncDisposable {
  url: string;
  received: Received[];
  /** As soon as it has been sent what `isThere` finds. */
  until(isThere: (received: Received[]) => boolean): Promise<Received[]>;
  /** How the next ones are answered; 200 after them. */
  answer(...statuses: (number | { status: number; headers: Record<string, string> })[]): void;
  /** Requests to a path that begins so are answered only once the returned function is called. */
  hold(path?: string): () => void;
}

export async function startPushTarget(): Promise<PushTargetServer> {
  const received: Received[] = [];
  const answers: (number | { status: number; headers: Record<string, string> })[] = [];
  const waiting = new Set<() => void>();
  let holding: { path: string; until: Promise<void> } | undefined;
  const listener = async (...[request, response]: Parameters<RequestListener>): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    const next = answers.shift() ?? 200;
    const { status, headers } = typeof next === 'number' ? { status: next, headers: {} } : next;
    if (status === 200)
      received.push({
        path: request.url ?? '',
        headers: request.headers,
        text,
        body: JSON.parse(text) as Body,
        at: Date.now(),
      });
    for (const check of waiting) check();
    if (holding && request.url?.startsWith(holding.path)) await holding.until;
    response.writeHead(status, headers).end();
    for (const check of waiting) check();
  };
  const server = createServer((request, response) => void listener(request, response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received,
    answer: (...next) => void answers.push(...next),
    hold(heldPath = '/') {
      const { promise, resolve } = Promise.withResolvers<void>();
      holding = { path: heldPath, until: promise };
      return resolve;
    },
    until: (isThere) =>
      new Promise((resolve) => {
        const check = () => {
          if (!isThere(received)) return;
          waiting.delete(check);
          resolve(received);
        };
        waiting.add(check);
        check();
      }),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Asks for notifications there. */
export function pushTo(
  { url }: Pick<PushTargetServer, 'url'>,
  more: Partial<TaskPushNotificationConfig> = {},
): TaskPushNotificationConfig {
  return { tenant: '', id: '', taskId: '', url, token: '', authentication: undefined, ...more };
}

/** The notifications about one task, in short. */
export function storyOf(received: Received[], taskId: string): string[] {
  return received.flatMap(({ body: { task, statusUpdate, artifactUpdate } }) => {
    if (task?.id === taskId) return [`task ${short(task.status.state)}`];
    if (statusUpdate?.taskId === taskId) return [short(statusUpdate.status.state)];
    if (artifactUpdate?.taskId === taskId) return [`text ${artifactUpdate.artifact.parts[0]?.text}`];
    return [];
  });
}

export function isTold(state: string, taskId: string) {
  return (received: Received[]) =>
    storyOf(received, taskId).some((told) => told === state || told === `task ${state}`);
}

function short(state: string): string {
  return state.replace('TASK_STATE_', '');
}
