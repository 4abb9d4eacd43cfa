/** Records the messages of a client's transport, from the handshake on. */
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { isRecord } from '@interlude-ai/core/elicitation/form/schema-keywords.ts';
import { tapTransport } from '../call/transport-tap.ts';
import { toText, redacted } from './cassette.ts';
import type { Cassette, Exchange, Said } from './cassette.ts';
import { isSecretName } from '@interlude-ai/core/elicitation/form/secret-fields.ts';
import { hideSecrets } from '@interlude-ai/core/elicitation/secret-shapes.ts';

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

// Removing secrets: values of secret fields, wherever else they appear; values that were named beforehand; and
// everything shaped like a key, a token or a credential. The server's state is kept, except for secrets in plain
// text. Headers are never recorded.

/** Shorter ones would match by chance. */
const shortest = 4;

/** Names of the protocol that sound like secrets. */
const ofProtocol = new Set(['progressToken', 'nextCursor', 'cursor', 'requestState']);

/** Headers that some servers repeat in messages. */
const ofHeaders = /^(?:(?:proxy-)?authorization|(?:set-)?cookie|x-api-key)$/i;

/** In the query and fragment of an address. */
const parameter = /([?&#])([^?=&#\s"]{1,100})=([^&#\s"]+)/g;
const secretParameter = /token|secret|password|passwd|apikey|api_key|signature|sig|code|credential/i;

/** `known`: secret values, like the token that was sent. */
export function redactCassette(cassette: Cassette, known: Iterable<string> = []): Cassette {
  const names = markedFields(cassette);
  const found = new Set(known);
  walk(cassette, (name, member) => {
    if (isSecretMember(names, name, member) && member !== redacted) found.add(String(member));
  });
  const secrets = [...found].filter(({ length }) => length >= shortest).flatMap(spellings);
  // Longer ones first, because a secret may be part of another.
  const longestFirst = [...new Set(secrets)].toSorted((one, other) => other.length - one.length);
  return redact(cassette, '', { names, secrets: longestFirst }) as Cassette;
}

interface Secrets {
  names: ReadonlySet<string>;
  secrets: readonly string[];
}

/** In JSON and in addresses. */
function spellings(secret: string): string[] {
  return [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)];
}

/** Fields that their form marks as secret, by a format or by their title. */
function markedFields(cassette: Cassette): Set<string> {
  const names = new Set<string>();
  walk(cassette, (name, member) => {
    if (!isRecord(member) || typeof member['type'] !== 'string') return;
    const { format, writeOnly, title } = member;
    if (format === 'password' || writeOnly === true || (typeof title === 'string' && isSecretName(title)))
      names.add(name);
  });
  return names;
}

function isSecretMember(
  names: ReadonlySet<string>,
  name: string,
  member: unknown,
): member is string | number {
  const isValue = typeof member === 'string' || typeof member === 'number';
  const isSecret = names.has(name) || isSecretName(name) || ofHeaders.test(name);
  return isValue && !ofProtocol.has(name) && isSecret;
}

function walk(value: unknown, visit: (name: string, member: unknown) => void): void {
  if (Array.isArray(value)) for (const item of value) walk(item, visit);
  if (!isRecord(value)) return;
  for (const [name, member] of Object.entries(value)) {
    for (const one of Array.isArray(member) ? member : [member]) visit(name, one);
    walk(member, visit);
  }
}

function redact(value: unknown, name: string, given: Secrets): unknown {
  const { names, secrets } = given;
  if (typeof value === 'string')
    return name === 'requestState' ? withoutKnown(value, secrets) : withoutSecrets(value, secrets);
  if (typeof value === 'number') return secrets.includes(String(value)) ? redacted : value;
  if (Array.isArray(value))
    return value.map((item) => (isSecretMember(names, name, item) ? redacted : redact(item, name, given)));
  if (!isRecord(value)) return value;
  const members = Object.entries(value).map(([key, member]) => [
    key,
    isSecretMember(names, key, member) ? redacted : redact(member, key, given),
  ]);
  return Object.fromEntries(members) as unknown;
}

function withoutKnown(text: string, secrets: readonly string[]): string {
  return secrets.reduce((left, secret) => left.replaceAll(secret, redacted), text);
}

function withoutSecrets(text: string, secrets: readonly string[]): string {
  const open = withoutKnown(text, secrets).replaceAll(parameter, (whole, mark: string, name: string) =>
    secretParameter.test(name) ? `${mark}${name}=${redacted}` : whole,
  );
  return hideSecrets(open, redacted);
}
