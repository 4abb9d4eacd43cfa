/**
 * A call of a language model, in any version of the interface: its options for us, its prompt as a message, and warnings
 * about settings that have no effect. Pure.
 */
import { InvalidArgumentError, InvalidPromptError, UnsupportedFunctionalityError } from '@ai-sdk/provider';
import type {
  LanguageModelV2CallOptions,
  LanguageModelV3CallOptions,
  LanguageModelV4CallOptions,
} from '@ai-sdk/provider';
import type { EarlierMessage } from '../new-message.ts';
import type { Warning } from './parts.ts';

export type Call = LanguageModelV2CallOptions | LanguageModelV3CallOptions | LanguageModelV4CallOptions;

/** `providerOptions.interlude` of `streamText` and `generateText`. */
export type InterludeCallOptions = {
  /**
   * Continues this conversation, or begins it with this id: 1–128 characters of `A-Z a-z 0-9 . _ : -`. Its stored messages
   * are the history, and only the last message of the prompt is new. Without it, every call is a new conversation, with the
   * prompt as its history.
   */
  conversationId?: string;
  /** Id of the new message. In a conversation, the same id is the same turn again, however much later. */
  messageId?: string;
  /** Another call with the same key within a day is the same turn. */
  idempotencyKey?: string;
  /**
   * What to do when a turn is at work in this conversation: `refuse` (the default) keeps it and fails with status 409,
   * `cancel` stops it. A turn that only waits for a person is always replaced.
   */
  onBusy?: 'refuse' | 'cancel';
};

const id = {
  fits: (value: unknown) => typeof value === 'string' && /^[A-Za-z0-9._:-]{1,128}$/.test(value),
  form: '1–128 characters of A-Z, a-z, 0-9, ".", "_", ":" and "-"',
};

const forms: Record<keyof InterludeCallOptions, { fits: (value: unknown) => boolean; form: string }> = {
  conversationId: id,
  messageId: id,
  idempotencyKey: {
    fits: (value) => typeof value === 'string' && value.length > 0 && value.length <= 255,
    form: 'a text of 1–255 characters',
  },
  onBusy: { fits: (value) => value === 'refuse' || value === 'cancel', form: '"refuse" or "cancel"' },
};

export function callOptionsOf({ providerOptions }: Call): InterludeCallOptions {
  const given: Record<string, unknown> = providerOptions?.['interlude'] ?? {};
  for (const [name, value] of Object.entries(given)) {
    const argument = `providerOptions.interlude.${name}`;
    if (!isKnown(name)) {
      const message = `${argument} is not an option. There are: ${Object.keys(forms).join(', ')}.`;
      throw new InvalidArgumentError({ argument, message });
    }
    const { fits, form } = forms[name];
    if (value === undefined || fits(value)) continue;
    throw new InvalidArgumentError({ argument, message: `${argument} has to be ${form}.` });
  }
  return given;
}

function isKnown(name: string): name is keyof InterludeCallOptions {
  return Object.hasOwn(forms, name);
}

type Message = Call['prompt'][number];

interface PromptMessage {
  /** Oldest first. */
  earlier: EarlierMessage[];
  text: string;
  /** As data: URLs; absent when there are none. */
  images?: string[];
}

/** Text and images. Tool calls and results in the prompt are dropped: the agent has its own tools. */
export function fromPrompt({ prompt }: Pick<Call, 'prompt'>, isStored: boolean): PromptMessage {
  const invalid = (message: string) => new InvalidPromptError({ prompt: undefined, message });
  const last = prompt.at(-1);
  if (last?.role !== 'user')
    throw invalid('the last message has to be the user’s, because the agent answers it.');
  const said = saidIn(last);
  if (isEmpty(said)) throw invalid('the last message has no text and no image.');
  return { ...said, earlier: isStored ? [] : prompt.slice(0, -1).flatMap(toEarlier) };
}

function toEarlier(message: Message): EarlierMessage[] {
  const { role } = message;
  const said = saidIn(message);
  return role === 'tool' || isEmpty(said) ? [] : [{ role, ...said }];
}

function isEmpty({ text, images }: Omit<PromptMessage, 'earlier'>): boolean {
  return text === '' && images === undefined;
}

function saidIn({ role, content }: Message): Omit<PromptMessage, 'earlier'> {
  if (role === 'system') return { text: content.trim() === '' ? '' : content };
  const texts: string[] = [];
  const images: string[] = [];
  for (const part of content) {
    if (part.type === 'file') images.push(imageOf(part, role));
    if (part.type === 'text' && part.text.trim() !== '') texts.push(part.text);
  }
  return { text: texts.join('\n\n'), ...(images.length > 0 && { images }) };
}

type FilePart = Extract<Message['content'][number], { type: 'file' }>;

/** Only bytes: nothing is fetched. The service checks the type. */
function imageOf({ mediaType, data }: FilePart, role: Message['role']): string {
  const bytes = typeof data === 'object' && 'type' in data && data.type === 'data' ? data.data : data;
  const isImage = role === 'user' && (mediaType === 'image' || mediaType.startsWith('image/'));
  if (isImage && (typeof bytes === 'string' || bytes instanceof Uint8Array)) {
    const base64 = typeof bytes === 'string' ? bytes : toBase64(bytes);
    return `data:${mediaType};base64,${base64}`;
  }
  const message = `Of files, only images of the user are supported, as bytes and not as addresses: leave the ${mediaType} out, or put what it says into the text.`;
  throw new UnsupportedFunctionalityError({ functionality: 'files', message });
}

/** Without Node's `Buffer`, so that it runs in browsers, too. */
function toBase64(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text);
}

const ofTheAgent = 'The agent’s own configuration decides.';

const settings = [
  'maxOutputTokens',
  'temperature',
  'stopSequences',
  'topP',
  'topK',
  'presencePenalty',
  'frequencyPenalty',
  'seed',
] as const satisfies (keyof Call)[];

export function warningsFor(call: Call, isStored: boolean): Warning[] {
  const ignored = (feature: string, details = ofTheAgent): Warning => ({
    type: 'unsupported',
    feature,
    details,
  });
  const warnings = settings.filter((name) => isSet(call[name])).map((name) => ignored(name));
  if (isSet(call.tools)) warnings.push(ignored('tools', 'The agent uses its own tools, on the service.'));
  if (call.responseFormat?.type === 'json')
    warnings.push(ignored('responseFormat', 'The agent answers in text; ask for JSON in words.'));
  if ('reasoning' in call && isSet(call.reasoning) && call.reasoning !== 'provider-default')
    warnings.push(ignored('reasoning'));
  if (call.prompt.some(({ role }) => role === 'system')) {
    const details = isStored
      ? 'The conversation is stored: only the last message was sent, not these instructions.'
      : 'The agent has its own instructions; these reach it as words of the user.';
    warnings.push({ type: 'compatibility', feature: 'system message', details });
  }
  return warnings;
}

function isSet(value: unknown): boolean {
  return value !== undefined && !(Array.isArray(value) && value.length === 0);
}
