/**
 * The model of the bench: says the same few words every time, with small fixed delays, and calls the tool when it is
 * told to. Our service and the direct call get the very same server.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { createOpenAIServer } from '../../test/servers/openai-server.ts';
import type { ChatRequest, OpenAIServer, Reply } from '../../test/servers/openai-server.ts';

/** What a user says to get this or that. */
export const say = {
  /** Eight words, the first after `delayMs`, the others as far apart. */
  talk: 'talk to me',
  /** One word at once: for whoever is interested in everything but the model. */
  briefly: 'be brief',
  callTool: 'call the tool',
  /** With the name of any tool behind it. */
  call: 'please call',
  /** One call after another, so many of them. */
  callTimes: (tool: string, times: number) => `keep calling ${tool}, ${times} times`,
  /** To another agent, which has the tool called. */
  handOn: (agent: string, tool: string) => `hand on to ${agent}: please call ${tool}`,
  /** So many tokens, so far apart; the first when the model is told to begin. */
  tokens: (count: number, everyMs: number) => `say ${count} tokens, one every ${everyMs} ms`,
};

export interface Model extends OpenAIServer {
  /** When each token of the last such answer left; the token with this index is `tokenText(index)`. */
  tokensAt: number[];
  /** Lets the answer that waits for it begin. */
  begin(): void;
}

export const tokenText = (index: number) => `word-${index} `;

/** The indices of the tokens in a piece of text. */
export const tokensIn = (text: string) =>
  Array.from(text.matchAll(/word-(\d+) /g), ([, index]) => Number(index));

const delayMs = 30;

const words = ['Here ', 'are ', 'a ', 'few ', 'words ', 'for ', 'you', '.'];

export async function startModel(): Promise<Model> {
  const tokensAt: number[] = [];
  let gate = Promise.withResolvers<void>();

  async function* speak(count: number, everyMs: number): AsyncGenerator<string> {
    await gate.promise;
    gate = Promise.withResolvers();
    tokensAt.length = 0;
    const beganAt = performance.now();
    for (let index = 0; index < count; index++) {
      await sleep(Math.max(0, beganAt + index * everyMs - performance.now()));
      tokensAt.push(performance.now());
      yield tokenText(index);
    }
  }

  function reply({ messages }: ChatRequest): Reply {
    const last = messages.at(-1);
    const text = JSON.stringify(last?.content);
    const repeated = calling(messages);
    if (repeated && !repeated.isDone)
      return { kind: 'tool-calls', calls: [{ name: repeated.tool, arguments: '{}' }] };
    if (last?.role === 'tool' || text.includes(say.briefly)) return { kind: 'text', chunks: ['Done.'] };
    if (text.includes(say.callTool))
      return { kind: 'tool-calls', calls: [{ name: 'peer__ping', arguments: '{}' }] };
    const [, agent, task] = /hand on to (\w+): (please call \w+)/.exec(text) ?? [];
    if (agent !== undefined)
      return {
        kind: 'tool-calls',
        calls: [{ name: `agent__${agent}`, arguments: JSON.stringify({ task }) }],
      };
    const [, tool] = /please call (\w+)/.exec(text) ?? [];
    if (tool !== undefined) return { kind: 'tool-calls', calls: [{ name: tool, arguments: '{}' }] };
    const [, count, everyMs] = /say (\d+) tokens, one every (\d+) ms/.exec(text) ?? [];
    if (count !== undefined) return { kind: 'text', chunks: speak(Number(count), Number(everyMs)) };
    return { kind: 'text', chunks: words, everyMs: delayMs };
  }

  const server = await createOpenAIServer({ reply });
  return { ...server, tokensAt, begin: () => gate.resolve() };
}

const isFromUser = ({ role }: ChatRequest['messages'][number]) => role === 'user';

/** A last message of the user that asks for calls, and how many results have come since. */
function calling(messages: ChatRequest['messages']): { tool: string; isDone: boolean } | null {
  const at = messages.findLastIndex(isFromUser);
  const [, tool, times] = /keep calling (\w+), (\d+) times/.exec(JSON.stringify(messages[at]?.content)) ?? [];
  if (tool === undefined) return null;
  const results = messages.slice(at).filter(({ role }) => role === 'tool').length;
  return { tool, isDone: results >= Number(times) };
}
