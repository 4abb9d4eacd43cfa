/** A client's receiver of push notifications: records them and answers as the test sets. */
import type { IncomingHttpHeaders } from 'node:http';
import type { TaskPushNotificationConfig } from '@a2a-js/sdk';
import { serve } from '../../servers/serve.ts';
import { createWaiting } from '../../waiting.ts';

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

type Answer = number | { status: number; headers: Record<string, string> };

export type PushTargetServer = Awaited<ReturnType<typeof startPushTarget>>;

export async function startPushTarget() {
  const received: Received[] = [];
  const answers: Answer[] = [];
  const waiting = createWaiting();
  let holding: { path: string; until: Promise<void> } | undefined;
  const { origin, stop } = await serve(async ({ request, response, body: text }) => {
    const path = request.url ?? '';
    const next = answers.shift() ?? 200;
    const { status, headers } = typeof next === 'number' ? { status: next, headers: {} } : next;
    if (status === 200)
      received.push({ path, headers: request.headers, text, body: JSON.parse(text) as Body, at: Date.now() });
    waiting.wake();
    if (holding && path.startsWith(holding.path)) await holding.until;
    response.writeHead(status, headers).end();
    waiting.wake();
  });
  return {
    url: `${origin}/hook`,
    received,
    /** How the next ones are answered; 200 after them. */
    answer: (...next: Answer[]) => void answers.push(...next),
    /** Requests to a path that begins so are answered only once the returned function is called. */
    hold(heldPath = '/') {
      const { promise, resolve } = Promise.withResolvers<void>();
      holding = { path: heldPath, until: promise };
      return resolve;
    },
    /** As soon as it has been sent what `isThere` finds. */
    until: (isThere: (received: Received[]) => boolean) => waiting.until(() => isThere(received) && received),
    [Symbol.asyncDispose]: stop,
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
