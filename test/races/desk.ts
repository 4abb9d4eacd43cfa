/**
 * The servers that the races are about. They count what reaches them for each city: every round books in a city of its own.
 * `desk` asks in rounds (new era), `held` keeps the call while it asks and may stop waiting (old era), and `hotel` is called
 * by tools in TypeScript.
 */
import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { asks, done, form } from '../servers/scripted-mcp-server.ts';
import { answer, listing, sendEvent, startRawMcpServer, startStream } from '../servers/raw-mcp-server.ts';
import type { RawMessage } from '../servers/raw-mcp-server.ts';
import { serve } from '../servers/serve.ts';

export interface Counted {
  /** Calls that came without answers. */
  calls: number;
  /** What was done: the actions of the answers, in the order of their names. */
  acted: string[];
  /** The server has stopped waiting for its answer. */
  hasGivenUp: boolean;
}

export interface Desk extends AsyncDisposable {
  url: string;
  heldUrl: string;
  hotelUrl: string;
  counted(city: string): Counted;
}

interface Input {
  city: string;
  /** How many questions `book` asks. */
  questions?: number;
  /** How long `hold` waits for its answer. */
  holdMs?: number;
  /** It says so when it stops waiting, before it ends the call. */
  withdraws?: boolean;
}

const question = (city: string, n = 1) =>
  form(`Nights in ${city} (${n})?`, { nights: { type: 'integer' } }, { required: ['nights'] });
const tools = (...names: string[]) => listing(names.map((name) => ({ name })));
const inputOf = ({ params }: RawMessage) => (params?.arguments ?? {}) as unknown as Input;

export async function startDesk(): Promise<Desk> {
  const stack = new AsyncDisposableStack();
  const counts = new Map<string, Counted>();
  const counted = (city: string) => {
    const count = counts.get(city) ?? { calls: 0, acted: [], hasGivenUp: false };
    counts.set(city, count);
    return count;
  };

  const desk = await startRawMcpServer({
    on: {
      'tools/list': (message, response) => answer(message, response, tools('book', 'visit')),
      'tools/call': (message, response) => answer(message, response, callDesk(message)),
    },
  });
  stack.defer(() => desk.stop());

  function callDesk(message: RawMessage): object {
    const { city, questions = 1 } = inputOf(message);
    const count = counted(city);
    const { name, inputResponses } = message.params ?? {};
    if (name === 'book' && !inputResponses) {
      count.calls++;
      const numbers = Array.from({ length: questions }, (_, index) => index + 1);
      return asks(Object.fromEntries(numbers.map((n) => [`q${n}`, question(city, n)])));
    }
    if (name === 'visit') count.calls++;
    const answers = Object.values(inputResponses ?? {}) as { action: string }[];
    count.acted.push(actionsIn(answers));
    return done(`${name}: ${city}`);
  }

  const waiting = new Map<unknown, (action: string) => void>();
  const held = await startRawMcpServer({
    era: 'legacy',
    on: {
      'tools/list': (message, response) => answer(message, response, tools('hold')),
      'tools/call': hold,
      response({ id, result }, response) {
        response.writeHead(202).end();
        waiting.get(id)?.(String(result?.['action']));
      },
    },
  });
  stack.defer(() => held.stop());

  function hold(message: RawMessage, response: ServerResponse): void {
    const { city, holdMs = 600_000, withdraws = false } = inputOf(message);
    const count = counted(city);
    count.calls++;
    const requestId = randomUUID();
    const end = (text: string) => {
      clearTimeout(timer);
      waiting.delete(requestId);
      sendEvent(response, { id: message.id ?? 0, result: { content: [{ type: 'text', text }] } });
      response.end();
    };
    const timer = setTimeout(() => {
      count.hasGivenUp = true;
      if (withdraws) sendEvent(response, { method: 'notifications/cancelled', params: { requestId } });
      end(`gave up: ${city}`);
    }, holdMs);
    response.on('close', () => clearTimeout(timer));
    waiting.set(requestId, (action) => {
      count.acted.push(action);
      end(`hold: ${city}`);
    });
    startStream(response);
    sendEvent(response, { id: requestId, ...question(city) });
  }

  const hotel = await serve(({ url, response }) => {
    const [, city = ''] = /^(.*) for \d+$/.exec(decodeURIComponent(url.pathname.slice(1))) ?? [];
    counted(city).acted.push('accept');
    response.end('done');
  });
  stack.defer(() => hotel.stop());

  return {
    url: desk.config.url,
    heldUrl: held.config.url,
    hotelUrl: hotel.origin,
    counted,
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

export function actionsIn(answers: { action: string }[]): string {
  return answers
    .map(({ action }) => action)
    .toSorted()
    .join(' ');
}
