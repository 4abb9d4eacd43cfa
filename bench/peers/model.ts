/**
 * The model of the bench: says the same few words every time, with small fixed delays, and calls the tool when it is
 * told to. Our service and the direct call get the very same server.
 */
import { createOpenAIServer } from '../../test/peers/openai-server.ts';
import type { ChatRequest, OpenAIServer, Reply } from '../../test/peers/openai-server.ts';

/** What a user says to get this or that. */
export const say = {
  /** Eight words, the first after `delayMs`, the others as far apart. */
  talk: 'talk to me',
  /** One word at once: for whoever is interested in everything but the model. */
  briefly: 'be brief',
  callTool: 'call the tool',
};

const delayMs = 30;

const words = ['Here ', 'are ', 'a ', 'few ', 'words ', 'for ', 'you', '.'];

export function startModel(): Promise<OpenAIServer> {
  return createOpenAIServer({ reply });
}

function reply({ messages }: ChatRequest): Reply {
  const last = messages.at(-1);
  const text = JSON.stringify(last?.content);
  if (last?.role === 'tool' || text.includes(say.briefly)) return { kind: 'text', chunks: ['Done.'] };
  if (text.includes(say.callTool))
    return { kind: 'tool-calls', calls: [{ name: 'peer__ping', arguments: '{}' }] };
  return { kind: 'text', chunks: words, everyMs: delayMs };
}
