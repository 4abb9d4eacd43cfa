/** What clients send us, with null for members that may be left out, as many languages write them. */
import { expect, test } from 'vitest';
import { z } from 'zod';
import { readStructured } from '../../src/api/a2a/vocabulary/question.ts';
import { parseInput } from '../../src/api/http/validation.ts';
import { readArguments } from '../../src/api/mcp/tools/tool.ts';
import {
  ChatRequestSchema,
  ElicitationResponsePartSchema,
  ToolApprovalPartSchema,
} from '@interlude-ai/core/contract/chat.ts';
import { ElicitationResponseSchema } from '@interlude-ai/core/contract/elicitation.ts';
import { ChatCompletionRequestSchema } from '@interlude-ai/core/contract/openai.ts';
import { readEnvelope, readMessage as readSlackMessage } from '../../src/api/slack/read-event.ts';
import { readableRequest } from '../../src/api/mcp/readable-request.ts';

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
    'a message in it, and its parts',
    () =>
      parseInput(ChatRequestSchema, {
        messages: [{ id: null, role: 'user', parts: [{ type: 'text', text: 'Hello.', state: null }] }],
      }),
    { messages: [{ role: 'user', parts: [{ type: 'text', text: 'Hello.', state: null }] }] },
  ],
  [
    'the approval of an AI SDK',
    () =>
      parseInput(ToolApprovalPartSchema, {
        state: 'approval-responded',
        approval: { id: ids.elicitationId, approved: false, reason: null },
      }),
    { approval: { id: ids.elicitationId, approved: false } },
  ],
  [
    'an answer in a message, with null in its content',
    () =>
      parseInput(ElicitationResponsePartSchema, {
        type: 'data-elicitation-response',
        data: { elicitationId: ids.elicitationId, action: 'accept', content: { city: null }, remember: null },
      }),
    { data: { action: 'accept', content: { city: null } } },
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

const call = { jsonrpc: '2.0', id: 1, method: 'tools/call' };
const capabilitiesKey = 'io.modelcontextprotocol/clientCapabilities';

test.each<[name: string, sent: unknown, read: unknown]>([
  ['parameters', { ...call, params: null }, call],
  ['a cursor', { ...call, params: { cursor: null, _meta: null } }, { ...call, params: {} }],
  [
    'a token for progress',
    { ...call, params: { _meta: { progressToken: null } } },
    { ...call, params: { _meta: {} } },
  ],
  [
    'answers and a state, and data with null in it',
    { ...call, params: { arguments: { city: null }, inputResponses: null, requestState: null } },
    { ...call, params: { arguments: { city: null } } },
  ],
  [
    'the content of an answer, and data with null in another',
    {
      ...call,
      params: {
        inputResponses: {
          a: { action: 'decline', content: null, _meta: null },
          b: { action: 'accept', content: { city: null } },
        },
      },
    },
    {
      ...call,
      params: {
        inputResponses: { a: { action: 'decline' }, b: { action: 'accept', content: { city: null } } },
      },
    },
  ],
  [
    'abilities of the new era',
    {
      ...call,
      params: { _meta: { [capabilitiesKey]: { roots: null, elicitation: { form: {}, url: null } } } },
    },
    { ...call, params: { _meta: { [capabilitiesKey]: { elicitation: { form: {} } } } } },
  ],
  [
    'all abilities of the new era',
    { ...call, params: { _meta: { [capabilitiesKey]: null } } },
    { ...call, params: { _meta: { [capabilitiesKey]: {} } } },
  ],
  [
    'abilities and a title of the old era',
    {
      ...call,
      method: 'initialize',
      params: {
        capabilities: { roots: null, elicitation: { form: [], url: null } },
        clientInfo: { name: 'x', title: null },
      },
    },
    {
      ...call,
      method: 'initialize',
      params: { capabilities: { elicitation: { form: {} } }, clientInfo: { name: 'x' } },
    },
  ],
  [
    'all abilities of the old era',
    { ...call, method: 'initialize', params: { capabilities: null } },
    { ...call, method: 'initialize', params: { capabilities: {} } },
  ],
  [
    'the id of a notification',
    { jsonrpc: '2.0', id: null, method: 'notifications/initialized', params: null },
    { jsonrpc: '2.0', method: 'notifications/initialized' },
  ],
  [
    'the error beside a result, and members that are not of JSON-RPC',
    {
      jsonrpc: '2.0',
      id: 'q/0',
      method: null,
      error: null,
      result: { action: 'cancel', content: null },
      time: 7,
    },
    { jsonrpc: '2.0', id: 'q/0', result: { action: 'cancel' } },
  ],
  ['the id of a request, which is needed', { ...call, id: null }, { ...call, id: null }],
  ['a list', [null], [null]],
])('a message of an MCP client with null for %s', (_, sent, read) => {
  expect(readableRequest(sent)).toEqual(read);
});

test('abilities that are nested as deep as a body allows exhaust nothing', () => {
  const depth = 100_000;
  const deep = `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;
  const body = JSON.parse(`{"method":"initialize","params":{"capabilities":${deep}}}`) as unknown;
  expect(readableRequest(body)).toMatchObject({ method: 'initialize' });
});
