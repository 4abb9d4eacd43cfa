/**
 * A hand-written MCP server of the new era, whose tool `ask` gives the replies that the test scripts. It records every call.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { answer, listing, startRawMcpServer } from './raw-mcp-server.ts';
import type { RawMessage } from './raw-mcp-server.ts';
import { sendJson } from './serve.ts';

export interface CallMessage extends RawMessage {
  params: NonNullable<RawMessage['params']> & {
    inputResponses?: Record<string, { action: string; content?: Record<string, unknown> }>;
    requestState?: string;
  };
}

/** A result, or a function that answers the call. */
export type ScriptedReply = object | ((message: CallMessage, response: ServerResponse) => void);

export type ScriptedMcpServer = Awaited<ReturnType<typeof startScriptedMcpServer>>;

export interface ScriptedMcpServerOptions {
  annotations?: object;
  /** Instead of `ask`. */
  tools?: object[];
  /** Replies to other methods, by method. */
  on?: Parameters<typeof startRawMcpServer>[0]['on'];
  /** Returns false for a call that it has refused itself. */
  letsIn?: (response: ServerResponse, request: IncomingMessage) => boolean | Promise<boolean>;
}

export async function startScriptedMcpServer({
  annotations = {},
  tools = [{ name: 'ask', annotations }],
  on = {},
  letsIn = () => true,
}: ScriptedMcpServerOptions = {}) {
  const calls: CallMessage[] = [];
  const moves: ScriptedReply[] = [];
  const start = (port = 0) =>
    startRawMcpServer({
      port,
      on: {
        ...on,
        'tools/list': (message, response) => answer(message, response, listing(tools)),
        async 'tools/call'(message, response, request) {
          if (!(await letsIn(response, request))) return;
          const call = message as CallMessage;
          calls.push(call);
          const move = moves.shift() ?? done();
          if (typeof move === 'function') move(call, response);
          else answer(message, response, move);
        },
      },
    });
  let raw = await start();
  const { url } = raw.config;
  return {
    url,
    /** Calls since `play`, without those that `letsIn` refused. */
    calls,
    /** Clears `calls`, and answers the next calls with these replies in order, later ones with `done`. */
    play(...next: ScriptedReply[]) {
      calls.length = 0;
      moves.splice(0, moves.length, ...next);
    },
    /** Stops listening until `comeBack`, which uses the same port. */
    leave: () => raw.stop(),
    async comeBack() {
      raw = await start(Number(new URL(url).port));
    },
    stop: () => raw.stop(),
  };
}

export const done = (text = 'done') => ({ resultType: 'complete', content: [{ type: 'text', text }] });

/** `input_required` with these requests; `state` only where one is given. */
export const asks = (inputRequests: Record<string, unknown> | undefined, requestState?: string) => ({
  resultType: 'input_required',
  ...(inputRequests && { inputRequests }),
  ...(requestState !== undefined && { requestState }),
});

export const form = (
  message: string,
  properties: object = { city: { type: 'string' } },
  more: object = {},
) => ({
  method: 'elicitation/create',
  params: { mode: 'form', message, requestedSchema: { type: 'object', properties, ...more } },
});

export const page = (url: string, message = 'Open this page') => ({
  method: 'elicitation/create',
  params: { mode: 'url', message, url },
});

/** The server no longer knows its own state. */
export const expired: ScriptedReply = ({ id }, response) => {
  const data = { reason: 'invalid_request_state' };
  const error = { code: -32602, message: 'Invalid requestState', data };
  sendJson(response, { jsonrpc: '2.0', id, error }, 400);
};

/** Drops the connection during the call. */
export const dies: ScriptedReply = (_, response) => void response.socket?.destroy();
