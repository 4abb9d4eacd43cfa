/**
 * Counts what reaches tools, independently of what the service records: requests to MCP servers as their bytes are sent, and
 * runs of the functions of tools in TypeScript.
 */
import { subscribe } from 'node:diagnostics_channel';
import { activityInfo } from '@temporalio/activity';
import type { Config } from '../platform/config/config.ts';
import type { AuthorCode } from '../platform/tool-bundles/tool-bundle.ts';
import { turnOfWorkflow } from '../turn/turn.ts';
import type { Execution } from './protocol.ts';

type Note = (call: Execution) => void;

interface SentChunk {
  request: { origin: string; path: string };
  chunk: Uint8Array | string;
}

interface CallRequest {
  method?: unknown;
  params?: {
    name?: string;
    arguments?: unknown;
    inputResponses?: unknown;
    requestState?: unknown;
    _meta?: Record<string, unknown>;
  };
}

/** undici reports each piece of a body that it has written to a socket. Requests of MCP are one JSON text. */
export function countRequests(servers: Config['servers'], note: Note): void {
  const places = new Set([...servers.values()].map(({ url }) => placeOf(url)));
  const begun = new WeakMap<object, string>();
  subscribe('undici:request:bodyChunkSent', (message) => {
    const { request, chunk } = message as SentChunk;
    if (!places.has(placeOf(request.origin + request.path))) return;
    const text = (begun.get(request) ?? '') + Buffer.from(chunk as Uint8Array).toString();
    begun.set(request, text);
    const sent = parsed(text);
    const callId = sent?.params?._meta?.['interlude/callId'];
    if (sent?.method !== 'tools/call' || typeof callId !== 'string') return;
    const { name = '', arguments: input, inputResponses, requestState } = sent.params ?? {};
    const [turnId = '', ...toolCallId] = callId.split('/');
    const round = JSON.stringify([inputResponses, requestState]);
    note({ turnId, toolCallId: toolCallId.join('/'), name, arguments: input, round });
  });
}

function placeOf(url: string): string {
  const { origin, pathname } = new URL(url);
  return origin + pathname;
}

/** Null while more is to come. */
function parsed(text: string): CallRequest | null {
  try {
    return JSON.parse(text) as CallRequest;
  } catch {
    return null;
  }
}

export function countExecutions({ activities, tools }: AuthorCode, note: Note): AuthorCode {
  const count = (name: string, toolCallId: string | null, input: unknown) => {
    const { turnId = '' } = turnOfWorkflow(activityInfo().workflowExecution?.workflowId ?? '') ?? {};
    note({ turnId, toolCallId, name, arguments: input, round: null });
  };
  return {
    activities: new Map(
      [...activities].map(([name, activity]) => [
        name,
        (...args) => {
          count(name, null, args);
          return activity(...args);
        },
      ]),
    ),
    tools: new Map(
      [...tools].map(([name, tool]) => [
        name,
        {
          ...tool,
          execute(input, context) {
            count(name, context.toolCallId, input);
            return tool.execute(input, context);
          },
        },
      ]),
    ),
  };
}
