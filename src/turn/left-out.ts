/**
 * What a model no longer gets because its provider rejected the conversation with it. The stored messages stay unchanged,
 * for people; a mark on each says what is replaced by a line of text for the model. Pure.
 */
import { imageInWords, isImagePart } from './message-parts.ts';
import type { ImagePart } from './message-parts.ts';
import { fileInWords } from './tool-content.ts';

/** `files`: images, other files and reasoning. `results`: whole tool results, and files. */
export type LeftOut = 'files' | 'results';

interface Message {
  role: 'user' | 'assistant' | 'tool';
  content: unknown;
  leftOut?: LeftOut | null;
}

interface Part {
  type: string;
  [key: string]: unknown;
}

const why = "the model's provider did not accept it";

/** The message as the model gets it. */
export function withoutLeftOut<Given extends Message>(message: Given): Given {
  const { leftOut = null, content } = message;
  if (leftOut === null || !Array.isArray(content)) return message;
  return {
    ...message,
    content: (content as Part[]).flatMap((part) => partsFor(message.role, part, leftOut)),
  };
}

/**
 * The same transcript with more and more left out: the files after the model's last message, then all tool results after
 * it, then the files of the whole conversation. Steps that would change nothing are omitted.
 */
export function withMoreLeftOut<Given extends Message>(messages: readonly Given[]): Given[][] {
  const lastGood = messages.findLastIndex(({ role }) => role === 'assistant');
  const isNew = (index: number) => index > lastGood;
  const transcripts: Given[][] = [];
  let current = [...messages];
  for (const [leftOut, isMeant] of [
    ['files', isNew],
    ['results', isNew],
    ['files', () => true],
  ] as const) {
    const next = current.map((message, index) =>
      isMeant(index) && hasMore(message, leftOut) ? { ...message, leftOut } : message,
    );
    if (next.some((message, index) => message !== current[index])) transcripts.push(next);
    current = next;
  }
  return transcripts;
}

/** Whether leaving out `more` would change what the model gets. */
function hasMore({ role, content, leftOut = null }: Message, more: LeftOut): boolean {
  if (leftOut === 'results' || leftOut === more || !Array.isArray(content)) return false;
  const parts = content as Part[];
  if (role === 'tool') return parts.some((part) => more === 'results' || filesIn(part).length > 0);
  return leftOut === null && parts.some((part) => isLeftOutOf(role, part));
}

function partsFor(role: Message['role'], part: Part, leftOut: LeftOut): Part[] {
  if (role === 'tool') return [leftOut === 'results' ? withoutOutput(part) : withoutFiles(part)];
  if (!isLeftOutOf(role, part)) return [part];
  return role === 'user' ? [{ type: 'text', text: `[${givenInWords(part)}: ${why}]` }] : [];
}

function isLeftOutOf(role: Message['role'], { type }: Part): boolean {
  return role === 'user' ? type !== 'text' : ['reasoning', 'file', 'reasoning-file'].includes(type);
}

function withoutOutput(part: Part): Part {
  if (part.type !== 'tool-result') return part;
  const value = `The tool ran, but its result is left out: ${why}. The user's client has it.`;
  return { ...part, output: { type: 'error-text', value } };
}

function withoutFiles(part: Part): Part {
  const files = filesIn(part);
  if (files.length === 0) return part;
  const value = blocksIn(part).map((block) =>
    files.includes(block)
      ? { type: 'text', text: `[${fileBlockInWords(block)}: ${why}; the user's client has it]` }
      : block,
  );
  return { ...part, output: { type: 'content', value } };
}

function filesIn(part: Part): Part[] {
  return blocksIn(part).filter(({ type }) => type !== 'text');
}

function blocksIn(part: Part): Part[] {
  const output = part['output'] as { type?: unknown; value?: unknown } | undefined;
  return output?.type === 'content' && Array.isArray(output.value) ? (output.value as Part[]) : [];
}

function fileBlockInWords({ mediaType, data }: Part): string {
  const bytes = (data as { data?: unknown } | undefined)?.data;
  return fileInWords({
    kind: 'file',
    mediaType: typeof mediaType === 'string' ? mediaType : 'a file',
    data: typeof bytes === 'string' ? bytes : '',
  });
}

function givenInWords(part: Part): string {
  return isImagePart(part) ? imageInWords(part as ImagePart) : 'a file';
}
