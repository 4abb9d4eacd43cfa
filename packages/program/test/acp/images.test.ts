/** Images in the prompt of an editor: the SDK's clients of both versions on one side, a real service on the other. */
import { methods } from '@agentclientprotocol/sdk';
import type { ContentBlock } from '@agentclientprotocol/sdk';
import { client, methods as methods2 } from '@agentclientprotocol/sdk/experimental/v2';
import { expect, onTestFinished, test } from 'vitest';
import { createAgentV1 } from '../../src/acp/agent-v1.ts';
import { createAgentV2 } from '../../src/acp/agent-v2.ts';
import { dataUrl, gif, pdf, png, svg } from '../../../../test/images.ts';
import { onTheWire, text, useImageService } from '../../../../test/service/image-service.ts';
import { playEditor } from './editor.ts';
import { partsFor } from './open-editor.ts';

const setup = useImageService();

async function open(agent: string | undefined) {
  const editor = await playEditor(createAgentV1({ ...(await partsFor(setup.service)), agent }));
  onTestFinished(() => editor.close());
  const sessionId = await editor.newSession();
  const prompt = (...blocks: ContentBlock[]) =>
    editor.agent.request(methods.agent.session.prompt, { sessionId, prompt: blocks });
  return { editor, sessionId, prompt, declared: editor.hello.agentCapabilities?.promptCapabilities?.image };
}

const image = (data: string, mimeType = 'image/png') => ({ type: 'image' as const, data, mimeType });
const file = (blob: string, mimeType: string) => ({
  type: 'resource' as const,
  resource: { uri: 'file:///project/logo.png', mimeType, blob },
});

test('images are declared for an agent that takes them, shown to it, and told again when the session is loaded', async () => {
  const { editor, sessionId, prompt, declared } = await open('viewer');
  expect(declared).toBe(true);
  expect(await prompt(image(png), text('What is this?'), file(gif, 'image/gif'))).toEqual({
    stopReason: 'end_turn',
  });
  const content = [text('What is this?'), onTheWire(png), onTheWire(gif, 'image/gif')];
  expect(setup.given()).toEqual([{ role: 'user', content }]);

  const again = await playEditor(createAgentV1(await partsFor(setup.service)));
  onTestFinished(() => again.close());
  await again.agent.request(methods.agent.session.load, { sessionId, cwd: '/project', mcpServers: [] });
  const said = again.updates.flatMap(({ update }) =>
    update.sessionUpdate === 'user_message_chunk' ? [update.content] : [],
  );
  expect(said).toEqual([text('What is this?'), image(png), image(gif, 'image/gif')]);
  expect(editor.said(sessionId)).toBe('Seen.');
});

test('an image alone is a prompt, and gives its session no name', async () => {
  const { editor, prompt } = await open(undefined);
  expect(await prompt(image(png))).toEqual({ stopReason: 'end_turn' });
  expect(setup.given()).toEqual([{ role: 'user', content: [onTheWire(png)] }]);
  expect(editor.updates.map(({ update }) => update.sessionUpdate)).not.toContain('session_info_update');
});

test('an agent that takes none declares none and refuses them, and the session goes on', async () => {
  const { prompt, declared } = await open('reader');
  expect(declared).toBe(false);
  await expect(prompt(text('What is this?'), image(png))).rejects.toMatchObject({
    code: -32602,
    message: expect.stringContaining('This agent takes no images.') as string,
    data: { code: 'images_not_taken' },
  });
  expect(await prompt(text('And this?'))).toEqual({ stopReason: 'end_turn' });
  expect(setup.given()).toEqual([{ role: 'user', content: 'And this?' }]);
});

test.each<[what: string, block: ContentBlock, words: RegExp]>([
  ['SVG', image(svg, 'image/svg+xml'), /send PNG, JPEG, GIF or WebP/],
  ['what is cut off', image(png.slice(0, -3)), /a part of it is missing/],
  ['a PDF', file(pdf, 'application/pdf'), /neither text nor an image/],
])('%s is refused in words', async (_what, block, words) => {
  const { prompt } = await open('viewer');
  await expect(prompt(text('What?'), block)).rejects.toMatchObject({
    code: -32602,
    message: expect.stringMatching(words) as string,
  });
});

test('the draft has them, too', async () => {
  const app = client({ name: 'test' }).onNotification(methods2.client.session.update, () => undefined);
  const connection = app.connect(createAgentV2({ ...(await partsFor(setup.service)), agent: 'viewer' }));
  onTestFinished(() => connection.close());
  const { agent } = connection;
  const hello = await agent.request(methods2.agent.initialize, {
    protocolVersion: 2,
    info: { name: 'test', version: '1' },
    capabilities: {},
  });
  expect(hello.capabilities?.session?.prompt).toEqual({ embeddedContext: {}, image: {} });
  const { sessionId } = await agent.request(methods2.agent.session.new, { cwd: '/project' });
  const asked = setup.model.next();
  await agent.request(methods2.agent.session.prompt, { sessionId, prompt: [text('What?'), image(png)] });
  expect(JSON.stringify((await asked).body)).toContain(dataUrl(png));
});
