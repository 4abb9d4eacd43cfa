/** What clients send us, with null for members that may be left out, as many languages write them. */
import { expect, test } from 'vitest';
import { z } from 'zod';
import { readStructured } from '../../src/a2a/extension.ts';
import { parseInput } from '../../src/api/http/problems.ts';
import { readMessage } from '../../src/api/mcp/legacy/messages.ts';
import { readArguments } from '../../src/api/mcp/tools/arguments.ts';
import { ChatRequestSchema } from '../../src/contract/chat.ts';
import { ElicitationResponseSchema } from '../../src/contract/elicitation-response.ts';
import { ChatCompletionRequestSchema } from '../../src/contract/openai.ts';
import { readEnvelope, readMessage as readSlackMessage } from '../../src/slack/read-event.ts';

const ids = { conversationId: 'demo-1', elicitationId: '0b7f5c1e-6a52-4a7e-9d3c-2f8e1b4d6a90' };
const says = [{ role: 'user', parts: [{ type: 'text', text: 'Hello.' }] }];
const slackMessage = { type: 'message', channel: 'C1', ts: '1.000001', user: 'U1' };
const event = { type: 'event_callback', team_id: 'T1', event_id: 'E1', event: slackMessage };

test.each<[name: string, read: () => unknown, expected: object]>([
  [
    'an answer over HTTP',
    () =>
      parseInput(ElicitationResponseSchema, {
        ...ids,
        action: 'decline',
        content: null,
        remember: null,
        reason: null,
        source: null,
      }),
    { ...ids, action: 'decline' },
  ],
  [
    'a message over HTTP',
    () =>
      parseInput(ChatRequestSchema, {
        id: null,
        agentId: null,
        messageId: null,
        stream: null,
        onBusy: null,
        trigger: null,
        messages: says,
      }),
    { stream: true, onBusy: 'refuse', trigger: 'submit-message' },
  ],
  [
    'a request of an OpenAI client',
    () =>
      parseInput(ChatCompletionRequestSchema, {
        model: 'assistant',
        messages: [{ role: 'user', content: 'Hello.' }],
        onBusy: null,
        stream_options: null,
        tools: null,
        user: null,
      }),
    { onBusy: 'refuse' },
  ],
  [
    'an answer of an A2A client',
    () =>
      readStructured({
        elicitationId: null,
        action: 'accept',
        content: { city: null },
        remember: null,
        reason: null,
      }),
    { response: { action: 'accept', content: { city: null } } },
  ],
  [
    'the arguments of an MCP client',
    () =>
      readArguments(z.object({ message: z.string(), conversationId: z.string().optional() }), {
        message: 'Hello.',
        conversationId: null,
      }),
    { message: 'Hello.' },
  ],
  [
    'a request of an MCP client of the old era',
    () => readMessage({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'ask', _meta: null } }),
    { kind: 'request', params: { name: 'ask' } },
  ],
  [
    'its parameters',
    () => readMessage({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: null }),
    { kind: 'request', params: {} },
  ],
  [
    'its token for progress',
    () =>
      readMessage({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/list',
        params: { _meta: { progressToken: null } },
      }),
    { kind: 'request', params: { _meta: {} } },
  ],
  [
    'an event of Slack',
    () => readEnvelope({ ...event, authorizations: null }),
    { kind: 'event', team: 'T1' },
  ],
  [
    'a message of Slack',
    () =>
      readSlackMessage(
        {
          ...slackMessage,
          subtype: null,
          channel_type: null,
          thread_ts: null,
          text: null,
          files: null,
          bot_id: null,
        },
        'B1',
      ),
    { threadTs: '1.000001', text: '', files: [], isDirect: false },
  ],
])('%s', (_, read, expected) => {
  expect(read()).toMatchObject(expected);
});

test('null where something is needed is refused as before', () => {
  const answer = { ...ids, action: null };
  expect(() => parseInput(ElicitationResponseSchema, answer)).toThrow('/action');
});
