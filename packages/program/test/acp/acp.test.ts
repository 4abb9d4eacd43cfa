/** An agent of the service inside an editor: the SDK's client on one side, a real service on the other. */
import { methods } from '@agentclientprotocol/sdk';
import { expect, test } from 'vitest';
import { useAskingService } from '../../../../test/asking/asking-service.ts';
import { png } from '../../../../test/images.ts';
import { asks, form } from '../../../../test/servers/scripted-mcp-server.ts';
import { callOf } from '../../../../test/service/asking.ts';
import type { EditorOptions } from './editor.ts';
import { openEditor } from './open-editor.ts';

const setup = useAskingService();
const callAsk = callOf(['ask']);

const open = (options: EditorOptions = {}) => openEditor(setup.service, options);

test('a prompt is answered, with its tool calls, and a question in between', async () => {
  setup.server.play(asks({ city: form('Which city?') }));
  const editor = await open({ answer: () => ({ action: 'accept', content: { city: 'Lisbon' } }) });
  const id = await editor.newSession();
  expect(await editor.prompt(id, callAsk)).toEqual({ stopReason: 'end_turn' });
  expect(editor.elicitations).toEqual([
    {
      sessionId: id,
      toolCallId: 'call_1',
      mode: 'form',
      message: expect.stringContaining('Which city?'),
      requestedSchema: { type: 'object', properties: { city: { type: 'string', title: 'City' } } },
    },
  ]);
  const updates = editor.updates.map(({ update }) => update);
  expect(updates).toMatchObject([
    { sessionUpdate: 'tool_call', toolCallId: 'call_1', title: 'Asking · ask', status: 'in_progress' },
    {
      sessionUpdate: 'tool_call_update',
      toolCallId: 'call_1',
      status: 'completed',
      content: [{ type: 'content', content: { type: 'text', text: 'done' } }],
    },
    { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'done' } },
    { sessionUpdate: 'session_info_update', title: callAsk },
    { sessionUpdate: 'config_option_update' },
  ]);
  expect(setup.server.calls[1]?.params.inputResponses).toMatchObject({
    city: { content: { city: 'Lisbon' } },
  });
  editor.close();
});

test('an editor without forms puts the question in words, and the next message is the answer', async () => {
  const size = { size: { type: 'integer', minimum: 1 } };
  setup.server.play(asks({ size: form('Which size?', size, { required: ['size'] }) }));
  const editor = await open({ capabilities: { elicitation: { url: {} } } });
  const id = await editor.newSession();
  expect(await editor.prompt(id, callAsk)).toEqual({ stopReason: 'end_turn' });
  expect(editor.said(id)).toContain('Which size?');
  await editor.prompt(id, 'a large one');
  expect(editor.said(id)).toContain('size: must be a whole number');
  const image = { type: 'image' as const, data: png, mimeType: 'image/png' };
  await editor.agent.request(methods.agent.session.prompt, { sessionId: id, prompt: [image] });
  expect(editor.said(id)).toContain('An image is no answer.');
  expect(await editor.prompt(id, '4')).toEqual({ stopReason: 'end_turn' });
  expect(editor.said(id).endsWith('done')).toBe(true);
  expect(editor.elicitations).toEqual([]);
  editor.close();
});

test('a cancelled prompt takes its dialog away, and ends as cancelled', async () => {
  setup.server.play(asks({ city: form('Which city?') }));
  const editor = await open({
    answer: (_, signal) => new Promise((resolve) => signal.addEventListener('abort', resolve)),
  });
  const id = await editor.newSession();
  const prompted = editor.prompt(id, callAsk);
  await editor.until(() => editor.elicitations.length === 1);
  await editor.cancel(id);
  expect(await prompted).toEqual({ stopReason: 'cancelled' });
  await editor.until(() => editor.withdrawn === 1);
  editor.close();
});
