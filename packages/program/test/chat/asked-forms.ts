/** Questions of a server as the terminal's client gets them, and a service that takes every answer. */
import type { Reply } from '../../../client/test/stream-server.ts';
import { waitingTurn } from './chat-session.ts';
import type { ChatSession } from './chat-session.ts';

export const context = {
  trigger: 'mcp_elicitation',
  agent: 'Assistant',
  server: 'travel',
  serverTitle: 'Travel Desk',
  host: 'travel.example',
  toolName: 'book_trip',
};
const common = { type: 'elicitation-request', context, expiresAt: '2030-01-01T00:00:00.000Z' };

function asked(id: string, status: string, more: object): object {
  return {
    type: 'data-elicitation-request',
    id,
    data: { ...common, elicitationId: id, status, ...more },
  };
}

const requestedSchema = {
  type: 'object',
  properties: {
    name: { type: 'string', title: 'Name' },
    nights: { type: 'integer', title: 'Nights', minimum: 1, maximum: 30, default: 3 },
  },
  required: ['name'],
};
export const form = (status: string, id = 'f1', more: object = {}) =>
  asked(id, status, { mode: 'form', message: 'Where to sleep?', requestedSchema, ...more });
export const page = (status: string, more: object = {}) =>
  asked('p1', status, {
    mode: 'url',
    message: 'Pay the deposit.',
    url: 'https://alice@pay.example/x?y=1',
    ...more,
  });

export const toolCall = {
  type: 'tool-input-available',
  toolCallId: 'call-1',
  toolName: 'travel__book_trip',
  input: {},
  dynamic: true,
};
export const toolDone = { type: 'tool-output-available', toolCallId: 'call-1', output: { content: [] } };
export const said = (text: string) => [
  { type: 'text-start', id: 't' },
  { type: 'text-delta', id: 't', delta: text },
  { type: 'text-end', id: 't' },
  { type: 'finish' },
];
export const asking = (...questions: object[]) => [{ type: 'start' }, toolCall, ...questions];

const isAnswer = (path: string) => path === '/run/api/elicitation-responses';
export const answersTo = ({ server }: ChatSession) =>
  server.requests.filter(({ path }) => isAnswer(path)).map(({ body }) => body as Record<string, unknown>);
export const receipt = (body: unknown) => {
  const { elicitationId, action } = body as { elicitationId: string; action: string };
  return JSON.stringify({ elicitationId, status: action, duplicate: false });
};

/** A service that takes every answer, settles its question and goes on when all are settled. */
export function settling(questions: Record<string, (status: string) => object>): Reply {
  const open = new Set(Object.keys(questions));
  const waiting = waitingTurn(
    asking(...Object.values(questions).map((question) => question('pending'))),
    (response, _nth, _path, body) => {
      const { elicitationId, action } = body as { elicitationId: string; action: string };
      response.end(receipt(body));
      open.delete(elicitationId);
      waiting.goOn([questions[elicitationId]?.(action) ?? {}]);
      if (open.size > 0) return;
      waiting.goOn([toolDone, ...said('All done.')]);
      waiting.end();
    },
  );
  return waiting.reply;
}
