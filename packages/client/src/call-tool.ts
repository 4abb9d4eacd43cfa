/**
 * The client of `@interlude-ai/client`: all of `client.ts`, and calls of exposed tools without a model. A call speaks MCP
 * (2026-07-28) with the service. When the tool asks, the result contains its questions; the handlers answer them, and the
 * same call is sent again.
 */
import type { ElicitationRequest } from '@interlude-ai/core/contract/elicitation.ts';
import { createHandlers } from './answer-questions.ts';
import type { Decision, ElicitationContext, ElicitationHandlers, OnElicitation } from './answer-questions.ts';
import { createSend, withQuery } from './send.ts';
import type { Call, Send } from './send.ts';
import { createClient } from './client.ts';
import type { Client, ClientOptions } from './client.ts';
import { InterludeError, isRecord, parseObject } from './interlude-error.ts';
import { randomId } from './new-message.ts';
import { readMessages, reconnecting, streamOf } from './reconnect.ts';
import type { ReadOptions } from './reconnect.ts';
import { defaultTiming, pause, retryDelayMs } from './retry.ts';
import type { Timing } from './retry.ts';

export interface ToolClient extends Client {
  /**
   * Calls an exposed tool and waits for its result. Its questions go to `onElicitation`, or to the handlers of the client.
   * Without any, they are declined, as are those of a mode that `capabilities` excludes.
   */
  callTool(name: string, args?: Record<string, unknown>, options?: CallToolOptions): Promise<ToolCallResult>;
}

/** `signal` stops waiting; the call goes on. */
export interface CallToolOptions extends ReadOptions {
  onElicitation?: OnElicitation;
  /** Another call with the same key within a day is the same call. Random unless given. */
  idempotencyKey?: string;
  /** The agent whose tool it is; where several expose the name, the first in the agents file unless given. */
  agentId?: string;
}

export interface ToolCallResult {
  content: { type: string; text?: string; [member: string]: unknown }[];
  structuredContent?: Record<string, unknown>;
  /** The tool failed, and `content` says why. */
  isError?: boolean;
}

interface Parts {
  send: Send;
  timing: Timing;
  handlers: ElicitationHandlers;
  capabilities: ClientOptions['capabilities'];
}

export function createToolClient(options: ClientOptions): ToolClient {
  const client = createClient(options);
  const handlers = createHandlers(options.onElicitation);
  const parts = {
    send: createSend({ ...options, fetch: withProblems(options.fetch) }),
    timing: { ...defaultTiming, ...options.timing },
    handlers,
    capabilities: options.capabilities,
  };
  return {
    ...client,
    onElicitation(handler) {
      const removals = [client.onElicitation(handler), handlers.add(handler)];
      return () => removals.forEach((remove) => remove());
    },
    callTool: (name, args = {}, call = {}) => callTool(parts, { ...call, name, args }),
  };
}

interface ToolCall extends CallToolOptions {
  name: string;
  args: Record<string, unknown>;
}

/**
 * The service gives up on a client that calls this often while nothing is asked. Then the call is begun again, under the
 * same key.
 */
const maxIdleRounds = 7;
/** How often a form is asked again after an invalid answer. */
const maxRepeats = 3;

async function callTool(parts: Parts, call: ToolCall): Promise<ToolCallResult> {
  const idempotencyKey = call.idempotencyKey ?? randomId();
  const asker = createAsker(parts, call);
  let carried = {};
  let idle = 0;
  for (let looks = 0; ;) {
    const result = await sendCall(parts, { ...call, idempotencyKey }, carried);
    if (result['resultType'] !== 'input_required') return toResult(result);
    const asked = Object.entries(isRecord(result['inputRequests']) ? result['inputRequests'] : {});
    const inputResponses = await asker.answer(asked);
    idle = asked.length === 0 ? idle + 1 : 0;
    const { requestState } = result;
    carried = idle < maxIdleRounds ? { requestState, inputResponses } : {};
    if (idle === maxIdleRounds) idle = 0;
    // Questions that no handler decided are polled.
    const isLeft = asked.length > 0 && Object.keys(inputResponses).length === 0;
    looks = isLeft ? looks + 1 : 0;
    if (isLeft) await pause(retryDelayMs(looks, parts.timing), call.signal);
  }
}

async function sendCall(
  { send, timing }: Parts,
  { name, args, agentId, idempotencyKey = '', signal, onStatus }: ToolCall,
  carried: object,
): Promise<Record<string, unknown>> {
  const key = 'io.modelcontextprotocol';
  const version = '2026-07-28';
  const method = 'tools/call';
  const request: Call = {
    method: 'POST',
    path: withQuery('/run/v1/mcp', { agent: agentId }),
    headers: {
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': version,
      'mcp-method': method,
      'mcp-name': encodeURIComponent(name),
      'idempotency-key': idempotencyKey,
    },
    body: {
      jsonrpc: '2.0',
      id: 1,
      method,
      params: {
        name,
        arguments: args,
        ...carried,
        _meta: {
          [`${key}/protocolVersion`]: version,
          [`${key}/clientCapabilities`]: { elicitation: { form: {}, url: {} } },
        },
      },
    },
  };
  const reading = {
    timing,
    connect: (limit: AbortSignal) => send(request, limit),
    ...(signal && { signal }),
    ...(onStatus && { onStatus }),
  };
  // Sending it again after a cut is harmless because of the key and `requestState`.
  const messages = reconnecting<Record<string, unknown>>(reading, async function* (response, { alive }) {
    for await (const { data } of readMessages(streamOf(response), alive)) {
      const message = parseObject(data ?? '');
      if (!('result' in message) && !('error' in message)) continue;
      yield message;
      return 'over';
    }
    return 'cut';
  });
  for await (const { result, error } of messages) {
    if (isRecord(result)) return result;
    throw toError(isRecord(error) ? error : {}, 400);
  }
  throw new Error('the stream of a call ends with its result');
}

/** Converts MCP errors to problem documents, which the rest of the API uses. */
function withProblems(fetch = globalThis.fetch): typeof globalThis.fetch {
  return async (...request) => {
    const response = await fetch(...request);
    if (response.ok) return response;
    const { error } = parseObject(await response.clone().text());
    if (!isRecord(error)) return response;
    const { code, detail } = toError(error, response.status);
    return new Response(JSON.stringify({ code, detail }), response);
  };
}

function toError({ message, data }: Record<string, unknown>, status: number): InterludeError {
  const { code } = isRecord(data) ? data : {};
  return new InterludeError({
    status,
    code: typeof code === 'string' ? code : 'tool_call_refused',
    detail: String(message),
  });
}

function toResult({ content, structuredContent, isError, _meta }: Record<string, unknown>): ToolCallResult {
  const parts = content as ToolCallResult['content'];
  // The user has to answer on a page, which the text names.
  if (isRecord(_meta) && 'elicitationPending' in _meta)
    throw new InterludeError({ status: 409, code: 'input_required', detail: parts[0]?.text ?? '' });
  return {
    content: parts,
    ...(isRecord(structuredContent) && { structuredContent }),
    ...(isError === true && { isError }),
  };
}

/**
 * Answers the questions of one call. A question that comes again is a form with an invalid answer, a page that is not done
 * yet, or one that was left open.
 */
function createAsker({ handlers, capabilities }: Parts, call: ToolCall) {
  const earlier = new Map<string, { decision: Decision | undefined; repeats: number }>();
  const handler = () => call.onElicitation ?? (handlers.some() ? handlers.ask : undefined);
  const signal = call.signal ?? new AbortController().signal;

  async function decide(elicitation: ElicitationRequest): Promise<Decision | undefined> {
    const { elicitationId, mode, message } = elicitation;
    const before = earlier.get(elicitationId);
    if (before && (mode === 'url' || !before.decision)) return before.decision;
    const repeats = before ? before.repeats + 1 : 0;
    const errors: ElicitationContext['errors'] = before ? [{ pointer: '', detail: message }] : [];
    if (repeats > maxRepeats)
      throw new InterludeError({
        status: 422,
        code: 'invalid_content',
        detail: message,
        errors: [...errors],
      });
    const ask = capabilities?.[mode] === false ? undefined : handler();
    const decision = ask ? await ask(elicitation, { signal, errors }) : { action: 'decline' as const };
    earlier.set(elicitationId, { decision, repeats });
    return decision;
  }

  return {
    async answer(asked: [key: string, request: unknown][]): Promise<Record<string, unknown>> {
      const answers = asked.map(async ([key, request]) => {
        const decision = await decide(toElicitation(request));
        if (!decision) return [];
        const { action, content } = decision;
        return [[key, { action, ...(content && { content }) }] as const];
      });
      return Object.fromEntries((await Promise.all(answers)).flat());
    },
  };
}

function toElicitation(request: unknown): ElicitationRequest {
  const { params } = request as { params: Record<string, unknown> & { _meta: Record<string, object> } };
  const { _meta, ...asked } = params;
  const { version: _, ...about } = { version: 1, ..._meta['interlude/question'] };
  return { type: 'elicitation-request', status: 'pending', ...asked, ...about } as ElicitationRequest;
}
