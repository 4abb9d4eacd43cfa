/** Records the messages of a client's transport, from the handshake on. */
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { isRecord } from '@interlude-ai/core/elicitation/form/schema-keywords.ts';
import { tapTransport } from '../call/transport-tap.ts';
import { toText } from './cassette.ts';
import type { Cassette, Exchange, Said } from './cassette.ts';
import { redactCassette } from './redact.ts';

export interface Recorder {
  /** Everything so far. */
  cassette(): Cassette;
  /** The same, as the text of a file. */
  text(): string;
  stop(): void;
}

export interface RecordOptions {
  /** Values that must not be anywhere in the recording. */
  secrets?: Iterable<string>;
}

interface Open {
  exchange: Exchange;
  isOver: boolean;
}

/** Before the client connects: `record(transport)`, then `client.connect(transport)`. */
export function record(transport: Transport, { secrets = [] }: RecordOptions = {}): Recorder {
  const exchanges: Open[] = [];
  const byId = new Map<string | number, Open>();
  /** Requests of the server by its own ids: their number, and the exchange they belong to. */
  const asked = new Map<string | number, { id: number; exchange: Exchange }>();
  let protocol = '';

  function say(exchange: Exchange | undefined, said: Said): void {
    if (exchange) exchange.during = [...(exchange.during ?? []), said];
  }

  function onSent(message: JSONRPCMessage): void {
    if ('method' in message) {
      // No server answers notifications.
      if (!('id' in message)) return;
      const { method, params } = message;
      const exchange: Exchange = { request: { method, ...(params && { params: withoutToken(params) }) } };
      const open = { exchange, isOver: false };
      exchanges.push(open);
      byId.set(message.id, open);
      return;
    }
    const question = message.id === undefined ? undefined : asked.get(message.id);
    if (question) say(question.exchange, { client: { id: question.id, ...answerOf(message) } });
  }

  function onReceived(message: JSONRPCMessage): void {
    if (!('method' in message)) {
      const open = message.id === undefined ? undefined : byId.get(message.id);
      if (!open || open.isOver) return;
      open.isOver = true;
      open.exchange.response = answerOf(message);
      protocol = protocolIn(open.exchange) ?? (protocol || versionOf(open.exchange));
      return;
    }
    const current = exchanges.findLast(({ isOver }) => !isOver)?.exchange;
    const { method } = message;
    const params = message.params && withoutToken(message.params);
    if (!('id' in message)) return say(current, { server: { method, ...(params && { params }) } });
    if (!current) return;
    const id = asked.size + 1;
    asked.set(message.id, { id, exchange: current });
    say(current, { server: { id, method, ...(params && { params }) } });
  }

  const tap = tapTransport(transport, { onSent, onReceived });
  function cassette(): Cassette {
    const all = exchanges.map(({ exchange }) => withQuestions(exchange));
    return redactCassette(structuredClone({ cassette: 1 as const, protocol, exchanges: all }), secrets);
  }
  return { cassette, text: () => toText(cassette()), stop: () => tap[Symbol.dispose]() };
}

function answerOf(message: object): { result?: unknown; error?: { code: number; message: string } } {
  if ('error' in message) return { error: message.error as { code: number; message: string } };
  return { result: 'result' in message ? message.result : {} };
}

/** The client chooses progress tokens. Only their presence is kept. */
function withoutToken(params: Record<string, unknown>): Record<string, unknown> {
  const meta = params['_meta'];
  return {
    ...params,
    ...('progressToken' in params && { progressToken: 1 }),
    ...(isRecord(meta) && 'progressToken' in meta && { _meta: { ...meta, progressToken: 1 } }),
  };
}

function protocolIn({ request, response }: Exchange): string | undefined {
  const result = response?.result;
  if (!isRecord(result)) return undefined;
  if (request.method === 'initialize' && typeof result['protocolVersion'] === 'string')
    return result['protocolVersion'];
  const versions = result['supportedVersions'];
  if (request.method !== 'server/discover' || !Array.isArray(versions)) return undefined;
  return versions
    .filter((version) => typeof version === 'string')
    .toSorted()
    .at(-1);
}

/** New era, where each request contains the version: the SDK asks for versions in another process. */
function versionOf({ request }: Exchange): string {
  const meta = request.params?.['_meta'];
  const version = isRecord(meta) ? meta['io.modelcontextprotocol/protocolVersion'] : undefined;
  return typeof version === 'string' ? version : '';
}

/** The questions of an exchange in either era, as one list. */
function withQuestions({ request, during, response }: Exchange): Exchange {
  const pushed = (during ?? []).flatMap((said) =>
    'server' in said && said.server.method === 'elicitation/create'
      ? [questionOf(said.server.params, {})]
      : [],
  );
  const result = response?.result;
  const requests = isRecord(result) && isRecord(result['inputRequests']) ? result['inputRequests'] : {};
  const returned = Object.entries(requests).map(([key, one]) =>
    questionOf(isRecord(one) ? one['params'] : {}, { key }),
  );
  const questions = [...pushed, ...returned];
  return {
    request,
    ...(questions.length > 0 && { questions }),
    ...(during && { during }),
    ...(response && { response }),
  };
}

function questionOf(params: unknown, named: { key?: string }): { message: string } & Record<string, unknown> {
  const { mode = 'form', message } = isRecord(params) ? params : {};
  return { ...named, mode, message: typeof message === 'string' ? message : '' };
}
