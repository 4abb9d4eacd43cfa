/** A service with an agent that takes images, `viewer`, and one that takes none, `reader`; and what their model was given. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { startDevelopmentServer } from '../development-server.ts';
import type { DevelopmentServer } from '../development-server.ts';
import { createOpenAIServer } from '../servers/openai-server.ts';
import type { OpenAIServer } from '../servers/openai-server.ts';
import { startService } from './service.ts';
import type { Service, ServiceOptions } from './service.ts';
import type { Caller } from './user.ts';

export interface ImageService {
  temporal: DevelopmentServer;
  service: Service;
  model: OpenAIServer;
  alice: Caller;
  /** The messages that the model was given last, the agent's own instructions aside. */
  given(): OpenAIServer['requests'][number]['body']['messages'];
}

/** To be called once in a file. */
export function useImageService(options: Omit<ServiceOptions, 'temporal'> = {}): ImageService {
  const stack = new AsyncDisposableStack();
  const setup = {
    given: () => setup.model.requests.at(-1)?.body.messages.filter(({ role }) => role !== 'system') ?? [],
  } as ImageService;
  beforeAll(async () => {
    setup.temporal = await startDevelopmentServer();
    stack.defer(() => setup.temporal.stop());
    setup.model = await createOpenAIServer({
      reply: ({ messages }) =>
        JSON.stringify(messages.at(-1)).includes('ask the other')
          ? { kind: 'tool-calls', calls: [{ name: 'agent__reader', arguments: '{"task":"Read."}' }] }
          : { kind: 'text', chunks: ['Seen.'] },
    });
    stack.defer(() => setup.model.stop());
    const folder = await mkdtemp(path.join(tmpdir(), 'interlude-images-'));
    stack.defer(() => rm(folder, { recursive: true }));
    const agents = `
providers: { openai-compatible: { baseURL: ${setup.model.baseURL} } }
agents:
  viewer: { model: 'openai-compatible:any', images: true, agents: [reader] }
  reader: { model: 'openai-compatible:any' }
`;
    await writeFile(path.join(folder, 'agents.yaml'), agents);
    const env = { ...options.env, INTERLUDE_CONFIG: path.join(folder, 'agents.yaml') };
    setup.service = await startService({ ...options, temporal: setup.temporal, env });
    stack.defer(() => setup.service.stop());
    setup.alice = await setup.service.as('alice');
  }, 60_000);
  afterAll(() => stack.disposeAsync());
  return setup;
}

export const text = (words: string) => ({ type: 'text' as const, text: words });

/** As the model server is sent an image. */
export function onTheWire(base64: string, mediaType = 'image/png') {
  return { type: 'image_url', image_url: { url: `data:${mediaType};base64,${base64}` } };
}
