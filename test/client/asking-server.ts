/** A service that asks: its streams wait until its questions are settled, and replay what was. */
import type { ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { beginStream, question, sendProblem, startStreamServer, toEvents } from './stream-server.ts';
import type { StreamServer } from './stream-server.ts';

export interface AskingServer extends StreamServer {
  /** Everything that came to the answers' address, in order. */
  answers(): Record<string, unknown>[];
  /** Somebody else's answer: goes out on every open stream. */
  settle(elicitationId: string, status: string): void;
  /** Ends every open stream in the middle. */
  cut(): void;
  /** Resolves with the stream of that many connections. */
  connected(count: number): Promise<void>;
}

export interface Asking {
  questions: object[];
  /** How to answer an answer instead of settling its question; `nth` counts from 0. */
  onAnswer?: (response: ServerResponse, nth: number) => boolean | void;
  /** Replays that pause after the questions, for long enough to act on them. */
  replaysSlowly?: boolean;
}

const start = [{ type: 'start', messageId: 'm1' }, { type: 'start-step' }];
const end = [{ type: 'finish-step' }, { type: 'finish' }];

export async function startAskingServer({
  questions,
  onAnswer,
  replaysSlowly = false,
}: Asking): Promise<AskingServer> {
  const events: object[] = [...start, ...questions];
  const open = new Set(questions.map(idOf));
  const streams = new Set<ServerResponse>();
  const waiting = new Set<() => void>();
  let connections = 0;
  let answers = 0;

  const server = await startStreamServer(async (response, _nth, path, body) => {
    if (path === '/run/api/elicitation-responses') return answer(response, body);
    if (path.includes('/elicitations?')) return list(response);
    beginStream(response);
    const asked = start.length + questions.length;
    response.write(toEvents(events.slice(0, asked)));
    if (replaysSlowly) await delay(100);
    response.write(toEvents(events.slice(asked)));
    if (open.size === 0) return void response.end(toEvents(end));
    streams.add(response);
    response.on('close', () => streams.delete(response));
    connections += 1;
    for (const look of waiting) look();
  });

  function list(response: ServerResponse): void {
    const items = questions
      .filter((one) => open.has(idOf(one)))
      .map((one) => ('data' in one ? one.data : {}));
    response.end(JSON.stringify({ items, next: null }));
  }

  function answer(response: ServerResponse, body: unknown): void {
    const nth = answers;
    answers += 1;
    if (onAnswer?.(response, nth) === true) return;
    const { elicitationId, action } = body as { elicitationId: string; action: string };
    response.end(JSON.stringify({ elicitationId, status: action, duplicate: !open.has(elicitationId) }));
    settle(elicitationId, action);
  }

  function settle(elicitationId: string, status: string): void {
    if (!open.delete(elicitationId)) return;
    const settled = question(status, elicitationId);
    events.push(settled);
    for (const stream of streams) {
      stream.write(toEvents([settled]));
      if (open.size === 0) stream.end(toEvents(end));
    }
  }

  return {
    ...server,
    settle,
    answers: () =>
      server.requests
        .filter(({ path }) => path === '/run/api/elicitation-responses')
        .map(({ body }) => body as Record<string, unknown>),
    cut: () => streams.forEach((stream) => stream.destroy()),
    connected: (count) =>
      new Promise((resolve) => {
        const look = () => {
          if (connections < count) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      }),
  };
}

function idOf(one: object): string {
  return 'id' in one ? String(one.id) : '';
}

/** The content does not fit. */
export function refuseContent(response: ServerResponse, nth: number): true {
  const errors = [{ pointer: '/content/title', detail: `too short, ${nth}` }];
  sendProblem(response, 422, { code: 'invalid_content', detail: 'Correct the fields.', errors });
  return true;
}
