import { expect, test } from 'vitest';
import { toEvent, toMessageContent } from '../../src/turn/tool-result.ts';

const call = { toolCallId: 'c1', toolName: 'tracker__list_issues' };

test('every content block of an MCP result reaches the client unchanged and the model in a form it can read', () => {
  const output = {
    content: [
      { type: 'text', text: 'two issues' },
      { type: 'image', data: 'aW1n', mimeType: 'image/png' },
      { type: 'audio', data: 'c25k', mimeType: 'audio/wav' },
      { type: 'resource', resource: { uri: 'file:///a', text: 'inside', mimeType: 'text/plain' } },
      { type: 'resource', resource: { uri: 'file:///b', blob: 'cGRm', mimeType: 'application/pdf' } },
      { type: 'resource_link', uri: 'https://example.com/1', name: 'one' },
    ],
    structuredContent: { issues: [1, 2] },
  };
  expect(toEvent(call, { kind: 'output', output })).toEqual({
    type: 'tool-output-available',
    toolCallId: 'c1',
    toolName: call.toolName,
    output,
  });
  expect(toMessageContent(call, { kind: 'output', output })).toEqual([
    {
      type: 'tool-result',
      toolCallId: 'c1',
      toolName: 'tracker__list_issues',
      output: {
        type: 'content',
        value: [
          { type: 'text', text: 'two issues' },
          { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'aW1n' } },
          { type: 'file', mediaType: 'audio/wav', data: { type: 'data', data: 'c25k' } },
          { type: 'text', text: 'inside' },
          { type: 'file', mediaType: 'application/pdf', data: { type: 'data', data: 'cGRm' } },
          { type: 'text', text: '{"type":"resource_link","uri":"https://example.com/1","name":"one"}' },
        ],
      },
    },
  ]);
});

test('a result with structured content only is given to the model as JSON', () => {
  const content = toMessageContent(call, { kind: 'output', output: { structuredContent: { open: 2 } } });
  expect(content).toMatchObject([{ output: { type: 'json', value: { open: 2 } } }]);
});

test('an error result is an error for the client and for the model', () => {
  const output = { isError: true, content: [{ type: 'text', text: 'no such issue' }] };
  const result = { kind: 'output' as const, output };
  expect(toEvent(call, result)).toEqual({
    type: 'tool-output-error',
    toolCallId: 'c1',
    toolName: call.toolName,
    errorText: 'no such issue',
  });
  expect(toMessageContent(call, result)).toMatchObject([
    { output: { type: 'error-text', value: 'no such issue' } },
  ]);
});
