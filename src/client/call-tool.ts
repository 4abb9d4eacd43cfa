/**
 * The client of `interlude/client`: all of `client.ts`, and calls of tools that their authors have exposed, with no model between.
 * A call speaks MCP (2026-07-28) with the service. Where the tool asks, the result is its questions; the handlers answer them,
 * and the same call is sent again.
 */
import type { ElicitationRequest } from '../contract/elicitation.ts';
import type { Decision, ElicitationContext, OnElicitation } from './answer-questions.ts';
import { withQuery } from './addresses.ts';
import { createClient } from './client.ts';
import type { Client, ClientOptions } from './client.ts';
import { createHandlers } from './elicitation-handlers.ts';
import type { ElicitationHandlers } from './elicitation-handlers.ts';
import { InterludeError, isRecord, parseObject } from './interlude-error.ts';
import { randomId } from './random-id.ts';
import { readMessages } from './read-chunks.ts';
import { reconnecting, streamOf } from './reconnect.ts';
import type { ReadOptions } from './reconnect.ts';
import { defaultTiming, pause, retryDelayMs } from './retry.ts';
import type { Timing } from './retry.ts';
import { createSend } from './send.ts';
import type { Call, Send } from './send.ts';

export interface ToolClient extends Client {
  /**
   * Calls an exposed tool and waits for its result. Its questions go to `onElicitation`, or to the handlers of the client; without
   * any, they are declined, as are those of a mode that `capabilities` excludes.
   */
  callTool(name: string, args?: Record<string, unknown>, options?: CallToolOptions): Promise<ToolCallResult>;
}

/** `signal` stops waiting; the call goes on. */
export interface CallToolOptions extends ReadOptions {
  onElicitation?: OnElicitation;
  /** The same key again, within a day, is the same call again. Made up unless given. */
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

/** The service gives up on a client that comes this often while nothing is asked: the call is then begun anew, under its key. */
const mostIdleRounds = 7;
/** How often a form is asked again whose content did not fit. */
const mostRepeats = 3;

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
    carried = idle < mostIdleRounds ? { requestState, inputResponses } : {};
    if (idle === mostIdleRounds) idle = 0;
    // Left open: looked at again from time to time.
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
  // Sent again after a cut: the key, and what it carries, make that harmless.
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

/** Refusals of MCP as the problem documents that the rest of the API has. */
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
  // No program may answer it: the words name the page where its user does.
  if (isRecord(_meta) && 'elicitationPending' in _meta)
    throw new InterludeError({ status: 409, code: 'input_required', detail: parts[0]?.text ?? '' });
  return {
    content: parts,
    ...(isRecord(structuredContent) && { structuredContent }),
    ...(isError === true && { isError }),
  };
}

/**
 * Answers the questions of one call. One that comes again is a form whose answer did not fit, a page that was agreed to and is not
 * done, or one that was left open.
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
    if (repeats > mostRepeats)
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
