/**
 * The sessions of one connection. A session is a conversation. Its id is no permission: the service decides by the token whose
 * it is. Throws `RequestError`s.
 */
import { randomUUID } from 'node:crypto';
import { RequestError } from '@agentclientprotocol/sdk';
import type { Client } from '@interlude-ai/client/client.ts';
import { InterludeError } from '@interlude-ai/client/interlude-error.ts';
import type { Conversation, ConversationMessages } from '@interlude-ai/core/contract/conversations.ts';
import type { Editor } from './editor.ts';
import { Session } from './session.ts';

interface SessionsParts {
  client: Client;
  editor: Editor;
  service: string;
  /** The agent of new sessions; undefined is the service's first agent. */
  agent: string | undefined;
}

export interface Opened {
  session: Session;
  agents: string[];
}

interface Listed {
  items: (Conversation & { cwd: string; title: string })[];
  next: string | null;
}

interface Loaded extends Opened {
  /** Oldest first. */
  messages: ConversationMessages['messages']['items'];
  isLive: boolean;
  follow: (isReplayed: boolean) => void;
}

export class Sessions {
  readonly #parts: SessionsParts;
  readonly #open = new Map<string, Session>();
  /** By session id. */
  readonly #titles = new Map<string, string>();

  constructor(parts: SessionsParts) {
    this.#parts = parts;
  }

  async create(cwd: string): Promise<Opened> {
    const agents = await this.agents();
    const { agent } = this.#parts;
    if (agent !== undefined) requireAgent(agent, agents);
    return { session: this.#add(randomUUID(), cwd, agent), agents };
  }

  /** Call `follow` to follow the conversation from there on. */
  async load(id: string, cwd: string): Promise<Loaded> {
    const { client } = this.#parts;
    const [agents, found] = await Promise.all([this.agents(), refused(readAll(client, id), id)]);
    const { conversation, messages } = found;
    this.#open.get(id)?.leave();
    const session = this.#add(id, cwd, conversation.agent);
    const { agent, position, turn } = conversation;
    session.hasBegun = true;
    return {
      session,
      agents,
      messages,
      isLive: turn !== null,
      follow: (isReplayed) => session.join(agent, { position, liveTurn: turn?.turnId, isReplayed }),
    };
  }

  /**
   * A conversation belongs to no folder. An open one is in the folder that it was opened for; any other is in that of
   * this program, which editors start in their workspace.
   */
  async list({ cwd, cursor }: { cwd: string | undefined; cursor: string | undefined }): Promise<Listed> {
    const { items, next } = await refused(
      this.#parts.client.conversations(cursor === undefined ? {} : { cursor }),
    );
    const placed = items.map((item) => ({ ...item, cwd: this.find(item.id)?.cwd ?? process.cwd() }));
    const asked = placed.filter((item) => cwd === undefined || item.cwd === cwd);
    const titled = asked.map(async (item) => ({ ...item, title: await this.#titleOf(item) }));
    return { items: await Promise.all(titled), next };
  }

  /** The first words of the conversation, or the name of its agent if they are not in the last 100 messages. */
  async #titleOf({ id, agent }: Conversation): Promise<string> {
    const known = this.#titles.get(id);
    if (known !== undefined) return known;
    const found = await this.#parts.client.conversation(id, { limit: 100 }).catch(() => null);
    const { items = [], next = null } = found?.messages ?? {};
    const title = titleFrom(items);
    // The first words do not change any more.
    if (title !== undefined && next === null) this.#titles.set(id, title);
    return title ?? agent;
  }

  /** Sessions of other connections have to be loaded first. */
  named(id: string): Session {
    const session = this.find(id);
    if (!session) throw sessionNotFound(id);
    return session;
  }

  find(id: string): Session | undefined {
    return this.#open.get(id);
  }

  get isBusy(): boolean {
    return [...this.#open.values()].some((session) => session.isBusy);
  }

  close(id: string): void {
    this.named(id).close();
    this.#open.delete(id);
  }

  /** The connection is gone. Requests to the service go on. */
  leaveAll(): void {
    for (const session of this.#open.values()) session.leave();
    this.#open.clear();
  }

  async agents(): Promise<string[]> {
    const agents = await refused(this.#parts.client.agents());
    return agents.map(({ id }) => id);
  }

  #add(id: string, cwd: string, agent: string | undefined): Session {
    const { client, editor, service } = this.#parts;
    const session = new Session({ id, cwd, client, editor, service }, agent);
    this.#open.set(id, session);
    return session;
  }
}

export function requireAgent(agent: string, agents: readonly string[]): void {
  if (agents.includes(agent)) return;
  const known = agents.join(', ');
  throw RequestError.invalidParams(undefined, `There is no agent of the name ${agent}. There is: ${known}.`);
}

/** All pages of messages. */
async function readAll(client: Client, id: string) {
  const conversation = await client.conversation(id, { limit: 100 });
  const messages = [...conversation.messages.items];
  for (let { next } = conversation.messages; next !== null;) {
    const page = await client.conversation(id, { cursor: next, limit: 100 });
    messages.unshift(...page.messages.items);
    ({ next } = page.messages);
  }
  return { conversation, messages };
}

async function refused<T>(work: Promise<T>, sessionId?: string): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw error instanceof InterludeError ? toRequestError(error, sessionId) : error;
  }
}

type UiMessage = ConversationMessages['messages']['items'][number];

const longest = 80;

export function titleOf(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim().slice(0, longest);
}

/** `messages`: oldest first. Undefined while the user has sent no text. */
function titleFrom(messages: readonly UiMessage[]): string | undefined {
  const texts = messages
    .filter(({ role }) => role === 'user')
    .flatMap(({ parts }) => parts.map(({ text }) => (typeof text === 'string' ? titleOf(text) : '')));
  return texts.find((title) => title !== '');
}

// Errors of the service as errors of ACP: one line each, for people, and never with a token in it.

const resourceNotFound = -32002;

/** The SDK would send the whole error to the client if it were not its own. */
export async function answered<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof RequestError) throw error;
    if (error instanceof InterludeError) throw toRequestError(error);
    throw internalError(error instanceof Error ? error.message : 'Something went wrong.');
  }
}

function toRequestError({ status, code, detail }: InterludeError, sessionId = ''): RequestError {
  const words = onOneLine(detail);
  if (status === 401) return RequestError.authRequired({ code }, words);
  if (code === 'conversation_not_found') return sessionNotFound(sessionId);
  return status >= 400 && status < 500 && status !== 429
    ? RequestError.invalidParams({ code }, words)
    : RequestError.internalError({ code }, words);
}

function sessionNotFound(sessionId: string): RequestError {
  const words = 'Resource not found: there is no such session, or it is not open on this connection.';
  return new RequestError(resourceNotFound, words, { sessionId });
}

export function internalError(words: string): RequestError {
  return RequestError.internalError(undefined, onOneLine(words));
}

function onOneLine(words: string): string {
  return words.replaceAll(/\s+/g, ' ').trim();
}
