/**
 * JSON-RPC messages as servers really send them, before the SDK sees them: it drops a whole message for one member that it
 * does not know or that is null. Known members are read, others left out; null counts as absent, and so does the empty
 * list that PHP writes for an empty object. What a tool answered as data is not touched.
 */
import { EventSourceParserStream } from 'eventsource-parser/stream';
import {
  allPresent,
  isEmptyList,
  isRecord,
  presentMembers,
  withoutNullKeywords,
} from '../../elicitation/form/schema-keywords.ts';

type Members = Record<string, unknown>;

/** The same response, with messages that can be read. */
export async function readableResponse(response: Response): Promise<Response> {
  const { body, status, headers } = response;
  const type = headers.get('content-type') ?? '';
  if (body === null) return response;
  if (/^text\/event-stream/i.test(type)) return withBody(response, rewriteEvents(body), type);
  if (/[/+]json\b/i.test(type)) return withBody(response, rewriteDocument(body), json);
  // Some servers send JSON without its type. A page is none.
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
  // By its address the SDK sees where a redirect has led.
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
          // The SDK reads no event of another name.
          const name = event === undefined || texts !== undefined ? '' : `event: ${event}\n`;
          for (const [index, text] of (texts ?? [data]).entries()) {
            // A list is resumed behind its last message.
            const isLast = index === (texts?.length ?? 1) - 1;
            // Not by a regular expression, for which U+2028 ends a line, too.
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

/** Undefined for what is no message or nested too deeply to write, and for an empty list. */
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

/** What is no message stays as it is, for the SDK to refuse. */
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

/** Our own ids are numbers; some servers send every id as a text. */
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
  // A handshake: of the old era, or of the new.
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

/** The SDK insists on these in the new era. Of a call's result none is supplied: a question without its type is none. */
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

/** Only an object says anything. */
function withMeta({ _meta: meta, ...rest }: Members): Members {
  return isRecord(meta) ? { ...rest, _meta: meta } : rest;
}
