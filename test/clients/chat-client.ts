/**
 * What `useChat` is made of, without React: the SDK's own chat and its own transport, on a state that a test can
 * wait for. The framework packages add nothing but another state.
 */
import * as ai7 from 'ai';
import * as ai5 from 'ai5';
import * as ai6 from 'ai6';
import { createWaiting } from '../waiting.ts';

type Message = ai7.UIMessage;
type Sdk = Pick<typeof ai7, 'AbstractChat' | 'DefaultChatTransport'>;

/** Typed as the newest: what this file uses of them has had one shape since version 5. */
const sdks = { 5: ai5 as unknown as Sdk, 6: ai6 as unknown as Sdk, 7: ai7 as Sdk };
export type Version = keyof typeof sdks;
export const versions: Version[] = [7, 6, 5];

export type ChatClient = ReturnType<typeof createChatClient>;

export interface ChatClientOptions {
  baseUrl: string;
  token: string;
  conversation: string;
  /** What the page kept from before it was loaded again. */
  messages?: Message[];
  /** Beside the token; a client that shows every question unless given. */
  headers?: Record<string, string>;
  fetch?: typeof fetch;
}

export function createChatClient(version: Version, options: ChatClientOptions) {
  const { baseUrl, token, conversation, messages = [], fetch } = options;
  const { headers = { 'x-supports-elicitation': 'true' } } = options;
  const sdk = sdks[version];
  const waiting = createWaiting();
  const state = createState(messages, () => waiting.wake());
  class Chat extends sdk.AbstractChat<Message> {}
  const chat = new Chat({
    id: conversation,
    state,
    transport: new sdk.DefaultChatTransport<Message>({
      api: `${baseUrl}/run/api/chat`,
      headers: { authorization: `Bearer ${token}`, ...headers },
      ...(fetch && { fetch }),
    }),
  });
  /** Parts of the last message of the assistant's; none before it has answered the last message that wants an answer. */
  const parts = (): Message['parts'] => {
    const said = state.messages.findLast((message) => !isAnswerOnly(message));
    return said?.role === 'assistant' ? said.parts : [];
  };

  return {
    get messages() {
      return chat.messages;
    },
    get status() {
      return chat.status;
    },
    get error() {
      return chat.error;
    },
    send: (text: string) => chat.sendMessage({ text }),
    /** With a file as the browser's file field gives it to the SDK: as a data: URL. */
    sendFile: (text: string, file: { mediaType: string; url: string }) =>
      chat.sendMessage({ text, files: [{ type: 'file', ...file }] }),
    /** A message under an id of the test's own choice. */
    sendAs: (id: string, text: string) =>
      chat.sendMessage({ id, role: 'user', parts: [{ type: 'text', text }] }),
    /** A message that is nothing but the answer to a question. */
    answer: (data: { elicitationId: string; action: string }) =>
      chat.sendMessage({ parts: [{ type: 'data-elicitation-response', data }] }),
    resume: () => chat.resumeStream(),
    stop: () => chat.stop(),
    parts,
    /** The first time that one of these parts fits. */
    until: (fits: (part: Message['parts'][number]) => boolean) =>
      waiting.until(() => parts().some(fits)).then(() => undefined),
  };
}

/** The SDK keeps these in its list, in front of or behind the message that they made possible. */
function isAnswerOnly({ parts }: Message): boolean {
  return parts.length > 0 && parts.every(({ type }) => type === 'data-elicitation-response');
}

function createState(messages: Message[], changed: () => void): ai7.ChatState<Message> {
  return {
    status: 'ready',
    error: undefined,
    messages,
    pushMessage(message) {
      this.messages = [...this.messages, message];
      changed();
    },
    popMessage() {
      this.messages = this.messages.slice(0, -1);
      changed();
    },
    replaceMessage(index, message) {
      // A copy, as in every framework's state: the SDK goes on changing the object it handed over.
      this.messages = this.messages.with(index, structuredClone(message));
      changed();
    },
    snapshot: structuredClone,
  };
}

export interface Question {
  elicitationId: string;
  status: string;
  url: string;
}

const questionIn = (part: Message['parts'][number]) =>
  part.type === 'data-elicitation-request' ? (part.data as Question) : null;

/** The question on the client's screen, in this state. */
export async function question(chat: ChatClient, status: string): Promise<Question> {
  await chat.until((part) => questionIn(part)?.status === status);
  const [found, ...others] = chat.parts().flatMap((part) => questionIn(part) ?? []);
  if (!found || others.length > 0) throw new Error('there is one question, and it was there a moment ago');
  return found;
}
