/** Images that clients of A2A send, by the official SDK over each transport and version, and those that clients of AG-UI send. */
import { describe, expect, test } from 'vitest';
import { connect as connectAgUi, post } from '../ag-ui/stock-client.ts';
import { pdf, png } from '../../images.ts';
import { onTheWire, text, useImageService } from '../../service/image-service.ts';
import { answerOf, connectAgent, stateOf } from './a2a-client.ts';

const setup = useImageService();
const bytes = Buffer.from(png, 'base64');

describe.each([
  ['JSONRPC', '1.0'],
  ['HTTP+JSON', '1.0'],
  ['JSONRPC', '0.3'],
] as const)('over %s of %s', (transport, version) => {
  const connect = (agent: string) => connectAgent(setup.service, { transport, version, agent });

  test('the bytes of an image go to an agent that takes them, and its history tells of it', async () => {
    const agent = await connect('viewer');
    const task = await agent.send([bytes, 'What is this?']);
    expect([stateOf(task), answerOf(task)]).toEqual(['COMPLETED', 'Seen.']);
    const content = [text('What is this?'), onTheWire(png)];
    expect(setup.given()).toEqual([{ role: 'user', content }]);
    expect(task.history[0]?.parts.map(({ content: part }) => part?.value)).toEqual([
      'What is this?',
      '[an image: image/png, 70 bytes]',
    ]);
  });

  test('an agent that takes none refuses them, and so does any what is no image', async () => {
    const [viewer, reader] = [await connect('viewer'), await connect('reader')];
    await expect(reader.send(['What?', bytes])).rejects.toThrow(/This agent takes no images|parts\.1/);
    await expect(viewer.send(['What?', Buffer.from(pdf, 'base64')])).rejects.toThrow(
      /parts\.1: the bytes are of no image that is understood/,
    );
  });
});

test('an image that a client of AG-UI sends goes to the agent, and another client of the thread gets it', async () => {
  const client = await connectAgUi(setup.service, { agent: 'viewer' });
  const image = {
    type: 'image' as const,
    source: { type: 'data' as const, value: png, mimeType: 'image/png' },
  };
  client.agent.addMessage({ id: 'm1', role: 'user', content: [text('What is this?'), image] });
  expect((await client.run()).outcome).toBe('success');
  expect(setup.given()).toEqual([{ role: 'user', content: [text('What is this?'), onTheWire(png)] }]);
  const { threadId } = client;
  const late = await connectAgUi(setup.service, { agent: 'viewer', threadId });
  await late.run();
  expect(late.agent.messages).toEqual(client.agent.messages);
  const messages = client.agent.messages.slice(0, 1);
  const refused = await post(setup.service, { threadId: 'other', messages }, { agent: 'reader' });
  expect([refused.status, refused.problem]).toMatchObject([422, { code: 'images_not_taken' }]);
});

test('cards say which agents take images, and their examples; addresses are refused with the code for types that are not taken', async () => {
  const send = async (agent: string, parts: object[]) => {
    const response = await fetch(`${setup.service.baseUrl}/run/agents/${agent}/a2a`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${await setup.service.token('alice')}`,
        'content-type': 'application/json',
        'a2a-version': '1.0',
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'SendMessage',
        params: { message: { messageId: 'm1', role: 'ROLE_USER', parts } },
      }),
    });
    return (await response.json()) as { error: { code: number; message: string } };
  };
  const address = [{ url: 'https://x.example/a.png', mediaType: 'image/png' }];
  expect((await send('viewer', address)).error).toMatchObject({
    code: -32005,
    message: expect.stringContaining('fetches nothing from addresses') as string,
  });
  expect((await send('reader', [{ raw: png }])).error).toMatchObject({
    code: -32005,
    message: expect.stringContaining('This agent takes no images.') as string,
  });
  for (const [agent, modes, skill] of [
    ['viewer', ['image/png', 'image/jpeg', 'image/gif', 'image/webp'], { examples: ['What is this?'] }],
    ['reader', [], {}],
  ] as const) {
    const card = await fetch(`${setup.service.baseUrl}/run/agents/${agent}/a2a/.well-known/agent-card.json`);
    expect(await card.json()).toMatchObject({
      defaultInputModes: ['text/plain', 'application/json', ...modes],
      skills: [skill],
    });
  }
});
