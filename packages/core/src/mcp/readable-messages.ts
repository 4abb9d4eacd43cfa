/**
 * Repairs JSON-RPC messages before the SDK sees them, which drops a whole message because of one unknown or null member.
 * Known members are kept and others dropped; null counts as absent, and so does the empty list that PHP writes for an empty
 * object. Data in results of tools is not changed.
 */
import { EventSourceParserStream } from 'eventsource-parser/stream';
import {
  isRecord,
  presentMembers,
  withoutNullKeywords,
  allPresent,
  isEmptyList,
} from '../elicitation/form/schema-keywords.ts';

type Members = Record<string, unknown>;

/** The same response, with repaired messages. */
export async function readableResponse(response: Response): Promise<Response> {
  const { body, status, headers } = response;
  const type = headers.get('content-type') ?? '';
  if (body === null) return response;
  if (/^text\/event-stream/i.test(type)) return withBody(response, rewriteEvents(body), type);
  if (/[/+]json\b/i.test(type)) return withBody(response, rewriteDocument(body), json);
  // Some servers send JSON without its type.
  if (status !== 200 || !/^(?:$|text\/plain|application\/octet-stream)/i.test(type)) return response;
  const text = await response.text();
  return withBody(response, rewriteText(text), /^\s*[{[]/.test(text) ? json : type);
}

const json = 'application/json';

function withBody(
  { status, statusText, headers, url }: Response,
  body: Body | string,
  type: string,
): Response {
  const plain = new Headers(headers);
  plain.delete('content-length');
  if (type !== '') plain.set('content-type', type);
  const rewritten = new Response(body, { status, statusText, headers: plain });
  // The SDK reads the final address of redirects from it.
  return Object.defineProperty(rewritten, 'url', { value: url });
}

type Body = ReadableStream<Uint8Array>;

function decoded(body: Body): ReadableStream<string> {
  return body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>);
}

function rewriteDocument(body: Body): Body {
  let text = '';
  return decoded(body)
    .pipeThrough(
      new TransformStream<string, string>({
        transform: (chunk) => void (text += chunk),
        flush: (controller) => controller.enqueue(rewriteText(text)),
      }),
    )
    .pipeThrough(new TextEncoderStream());
}

function rewriteEvents(body: Body): Body {
  let retry = '';
  return decoded(body)
    .pipeThrough(new EventSourceParserStream({ onRetry: (ms) => void (retry = `retry: ${ms}\n`) }))
    .pipeThrough(
      new TransformStream({
        transform({ id, event, data }, controller) {
          const texts = messagesIn(data);
          // The SDK ignores events with another name.
          const name = event === undefined || texts !== undefined ? '' : `event: ${event}\n`;
          for (const [index, text] of (texts ?? [data]).entries()) {
            // A list is resumed after its last message.
            const isLast = index === (texts?.length ?? 1) - 1;
            // Not with a regular expression, for which U+2028 ends a line, too.
            const lines = text.replaceAll('\n', '\ndata: ');
            controller.enqueue(
              `${retry}${id === undefined || !isLast ? '' : `id: ${id}\n`}${name}data: ${lines}\n\n`,
            );
            retry = '';
          }
        },
      }),
    )
    .pipeThrough(new TextEncoderStream());
}

/** Undefined if it is not a message or is nested too deeply to write, and for an empty list. */
function messagesIn(data: string): string[] | undefined {
  try {
    const messages = [JSON.parse(data) as unknown].flat();
    const isMessage = (value: unknown) =>
      isRecord(value) && ('method' in value || 'result' in value || 'error' in value);
    if (messages.length === 0 || !messages.every(isMessage)) return undefined;
    return messages.map((message) => JSON.stringify(readableMessage(message)));
  } catch {
    return undefined;
  }
}

function rewriteText(text: string): string {
  try {
    return JSON.stringify(readableMessage(JSON.parse(text)));
  } catch {
    return text;
  }
}

/** Other values are left for the SDK to reject. */
export function readableMessage(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(readableMessage);
  if (!isRecord(value)) return value;
  const { id, method, params, result, error } = value;
  const jsonrpc = '2.0';
  if (typeof method === 'string')
    return {
      jsonrpc,
      ...presentMembers({ id }),
      method,
      ...(isRecord(params) && { params: readableParams(params) }),
    };
  if (isRecord(error) && result == null)
    return { jsonrpc, ...presentMembers({ id: ownId(id) }), error: readableError(error) };
  if ('result' in value && error == null) return { jsonrpc, id: ownId(id), result: readableResult(result) };
  return value;
}

/** Our ids are numbers; some servers send them back as strings. */
function ownId(id: unknown): unknown {
  return typeof id === 'string' && /^(?:0|[1-9]\d{0,15})$/.test(id) ? Number(id) : id;
}

function readableParams(params: Members): Members {
  return withMeta(presentMembers(params));
}

function readableError({ code, message, data }: Members): Members {
  const number = typeof code === 'string' ? Number(code) : code;
  return {
    code: Number.isInteger(number) ? number : internalError,
    message: typeof message === 'string' ? message : '',
    ...(data !== undefined && { data }),
  };
}

const internalError = -32603;

function readableResult(result: unknown): unknown {
  if (result === null || isEmptyList(result)) return {};
  if (!isRecord(result)) return result;
  const read = withMeta(presentMembers(result));
  // The result of a handshake, in the old and the new era.
  if ('protocolVersion' in read) {
    const { capabilities, serverInfo } = read;
    return {
      ...read,
      capabilities: allPresent(capabilities),
      serverInfo: { ...unnamed, ...allPresent(serverInfo) },
    };
  }
  if ('supportedVersions' in read)
    return { ...complete, ...read, capabilities: allPresent(read['capabilities']) };
  return 'tools' in result ? readableList(read) : read;
}

/** Required by the SDK in the new era. `resultType` is not added to results of calls: a question without it is invalid. */
const complete = { resultType: 'complete' };
const unstated = { ttlMs: 0, cacheScope: 'private' };

function readableList({ tools = [], nextCursor, ...rest }: Members): Members {
  return {
    ...complete,
    ...unstated,
    ...rest,
    tools: Array.isArray(tools) ? tools.map(readableTool) : tools,
    ...(typeof nextCursor === 'string' && { nextCursor }),
  };
}

function readableTool(tool: unknown): unknown {
  if (!isRecord(tool)) return tool;
  const { title, description, annotations, inputSchema, ...rest } = presentMembers(tool);
  return {
    ...rest,
    ...(typeof title === 'string' && { title }),
    ...(typeof description === 'string' && { description }),
    ...(isRecord(annotations) && { annotations: presentMembers(annotations) }),
    ...(!isEmptyList(inputSchema) && presentMembers({ inputSchema: withoutNullKeywords(inputSchema) })),
  };
}

const unnamed = { name: 'server', version: '' };

function withMeta({ _meta: meta, ...rest }: Members): Members {
  return isRecord(meta) ? { ...rest, _meta: meta } : rest;
}
