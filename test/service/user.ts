/** One caller of the API, as a test drives it: over HTTP and nothing else. */
import { randomUUID } from 'node:crypto';
import { readChatStream } from './chat-stream.ts';

export interface Reply {
  status: number;
  body: Record<string, unknown>;
}

export type Caller = ReturnType<typeof createCaller>;

export interface ChatOptions {
  conversation?: string;
  messageId?: string;
  /** The agent to talk to; the first of the file when left out. */
  agentId?: string;
  /** The capability header; null leaves it out. */
  supports?: string | null;
  headers?: Record<string, string>;
}

/** `conversations` collects the ids of the conversations it begins; `forUser` is the user that a key acts for. */
export function createCaller(
  baseUrl: string,
  token: string,
  conversations = new Set<string>(),
  forUser?: string,
) {
  const caller = {
    authorization: `Bearer ${token}`,
    ...(forUser !== undefined && { 'x-interlude-user': forUser }),
  };
  const json = { ...caller, 'content-type': 'application/json' };

  async function request(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Reply> {
    const response = await fetch(baseUrl + path, {
      method,
      headers: { ...(body === undefined ? caller : json), ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return {
      status: response.status,
      body: text === '' ? {} : (JSON.parse(text) as Record<string, unknown>),
    };
  }

  return {
    async chat(text: string, options: ChatOptions = {}) {
      const {
        conversation = randomUUID(),
        messageId = randomUUID(),
        supports = 'true',
        agentId,
        headers = {},
      } = options;
      conversations.add(conversation);
      const abort = new AbortController();
      const response = await fetch(`${baseUrl}/run/api/chat`, {
        method: 'POST',
        headers: { ...json, ...(supports !== null && { 'x-supports-elicitation': supports }), ...headers },
        body: JSON.stringify({
          id: conversation,
          ...(agentId !== undefined && { agentId }),
          messages: [{ id: messageId, role: 'user', parts: [{ type: 'text', text }] }],
        }),
        signal: abort.signal,
      });
      if (response.status !== 200)
        throw new Error(`chat answered ${response.status}: ${await response.text()}`);
      return readChatStream(response, abort);
    },
    /** Follows the live turn again, from its start; null when the conversation is idle. */
    async rejoin(conversation: string, headers: Record<string, string> = {}) {
      const abort = new AbortController();
      const response = await fetch(`${baseUrl}/run/api/chat/${conversation}/stream`, {
        headers: { ...caller, 'x-supports-elicitation': 'true', ...headers },
        signal: abort.signal,
      });
      return response.status === 204 ? null : readChatStream(response, abort);
    },
    answer: (body: {
      conversationId: string;
      elicitationId: string;
      action: string;
      content?: Record<string, unknown>;
    }) => request('POST', '/run/api/elicitation-responses', body),
    cancel: (conversation: string) => request('POST', `/run/api/chat/${conversation}/cancel`),
    request,
  };
}
