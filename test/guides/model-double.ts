/** Says "Hello!" as OpenAI, Anthropic and OpenAI-compatible servers do, over real HTTP. */
import { sendJson, serve } from '../servers/serve.ts';
import type { Served } from '../servers/serve.ts';

const usage = { input_tokens: 1, output_tokens: 1 };
const message = { type: 'message', id: 'm1' };

const events: Record<string, object[]> = {
  '/v1/responses': [
    { type: 'response.created', response: { id: 'r1', created_at: 1, model: 'a' } },
    { type: 'response.output_item.added', output_index: 0, item: message },
    { type: 'response.output_text.delta', item_id: 'm1', delta: 'Hello!' },
    { type: 'response.output_item.done', output_index: 0, item: message },
    { type: 'response.completed', response: { usage } },
  ],
  '/v1/messages': [
    { type: 'message_start', message: { id: 'm1', model: 'a', role: 'assistant', content: [], usage } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello!' } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage },
    { type: 'message_stop' },
  ],
  '/v1/chat/completions': [
    { id: 'c1', choices: [{ index: 0, delta: { content: 'Hello!' }, finish_reason: 'stop' }] },
  ],
};

export interface ModelDouble extends Served {
  /** The paths that were asked, and the key of each. */
  asked: [path: string, key: string | undefined][];
}

export async function startModelDouble(): Promise<ModelDouble> {
  const asked: ModelDouble['asked'] = [];
  const served = await serve(({ url, request, response }) => {
    const { authorization, 'x-api-key': key } = request.headers;
    asked.push([url.pathname, authorization?.replace('Bearer ', '') ?? String(key)]);
    const stream = events[url.pathname];
    if (!stream) return sendJson(response, { error: { message: 'no such route' } }, 404);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(stream.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''));
  });
  return { ...served, asked };
}
