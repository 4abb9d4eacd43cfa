/** A service with an agent that takes images, `viewer`, and one that takes none, `reader`; and what their model was given. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createOpenAIServer } from '../servers/openai-server.ts';
import type { OpenAIServer } from '../servers/openai-server.ts';
import type { ServiceOptions } from './service.ts';
import { useService } from './use-service.ts';
import type { UsedService } from './use-service.ts';

export interface ImageService extends UsedService {
  model: OpenAIServer;
  /** The messages that the model was given last, the agent's own instructions aside. */
  given(): OpenAIServer['requests'][number]['body']['messages'];
}

/** To be called once in a file. */
export function useImageService(options: Omit<ServiceOptions, 'temporal'> = {}): ImageService {
  const setup = {
    given: () => setup.model.requests.at(-1)?.body.messages.filter(({ role }) => role !== 'system') ?? [],
  } as ImageService;
  useService({ ...options, needs, into: setup });
  return setup;

  async function needs(stack: AsyncDisposableStack) {
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
  viewer: { examples: ['What is this?'], model: 'openai-compatible:any', images: true, agents: [reader] }
  reader: { model: 'openai-compatible:any' }
`;
    await writeFile(path.join(folder, 'agents.yaml'), agents);
    return { env: { INTERLUDE_CONFIG: path.join(folder, 'agents.yaml') } };
  }
}

export const text = (words: string) => ({ type: 'text' as const, text: words });

/** As the model server is sent an image. */
export function onTheWire(base64: string, mediaType = 'image/png') {
  return { type: 'image_url', image_url: { url: `data:${mediaType};base64,${base64}` } };
}
