/**
 * Chat completions know nothing but text in the result of a tool. The provider would send a picture as JSON, a million
 * characters of base64 that no model can read and somebody has to pay; so the model is told what it cannot see.
 */
import type { LanguageModelMiddleware } from 'ai';

type Params = Parameters<NonNullable<LanguageModelMiddleware['transformParams']>>[0]['params'];
type Message = Params['prompt'][number];
type ToolPart = Extract<Message, { role: 'tool' }>['content'][number];

export const describeFiles: LanguageModelMiddleware = {
  transformParams: ({ params }) =>
    Promise.resolve({ ...params, prompt: params.prompt.map((message) => withoutFiles(message)) }),
};

function withoutFiles(message: Message): Message {
  return message.role === 'tool' ? { ...message, content: message.content.map(toWords) } : message;
}

function toWords(part: ToolPart): ToolPart {
  if (part.type !== 'tool-result' || part.output.type !== 'content') return part;
  const words = part.output.value.map((block) => {
    if (block.type === 'text') return block.text;
    return block.type === 'file'
      ? `[${block.mediaType}: not shown to this model; the user's client has it]`
      : '';
  });
  return { ...part, output: { type: 'text', value: words.join('\n') } };
}
