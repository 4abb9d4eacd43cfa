/** The scripted model behind OpenAI's protocol, so that it can be away. */
import { createOpenAIServer } from '../servers/openai-server.ts';
import type { ChatRequest, OpenAIServer, Reply } from '../servers/openai-server.ts';
import { script } from '../fixtures/script.ts';

export const startScriptModel = (): Promise<OpenAIServer> => createOpenAIServer({ reply });

function reply({ messages, tools = [] }: ChatRequest): Reply {
  const from = messages.findLastIndex(({ role }) => role === 'user');
  const outcomes = messages.slice(from).flatMap(({ role, content, tool_call_id }) => {
    const call = callsIn(messages).findLast(({ id }) => id === tool_call_id);
    if (role !== 'tool' || !call) return [];
    const { name: tool, arguments: input } = call.function;
    return { tool, input: JSON.parse(input) as unknown, ok: true, text: wordsOf(content), data: undefined };
  });
  const names = tools.map((tool) => tool.function.name);
  const conversation = { userText: wordsOf(messages[from]?.content), tools: names, outcomes, images: [] };
  for (const rule of script.rules) {
    const move = rule(conversation);
    if (move?.calls) {
      const calls = move.calls.map(({ tool, input = {} }) => ({
        name: tool,
        arguments: JSON.stringify(input),
      }));
      // Conversations have several turns, whose calls have ids of their own.
      const named = calls.map((call, index) => ({ ...call, id: `call_${messages.length}_${index}` }));
      return { kind: 'tool-calls', calls: named };
    }
    if (move) return { kind: 'text', chunks: [move.say ?? ''] };
  }
  throw new Error('the last rule always has a move');
}

interface ToolCall {
  id: string;
  function: { name: string; arguments: string };
}

const callsIn = (messages: ChatRequest['messages']) =>
  messages.flatMap(({ tool_calls = [] }) => tool_calls as ToolCall[]);

function wordsOf(content: unknown): string {
  if (typeof content === 'string') return content;
  return (content as { text?: string }[]).map(({ text = '' }) => text).join('');
}
