/**
 * The sessions of one connection. A session is a conversation, and its id is no permission: whose it is, the service says,
 * by the token that this program brings. Throws `RequestError`s.
 */
import { randomUUID } from 'node:crypto';
import { RequestError } from '@agentclientprotocol/sdk';
import type { Client } from '../../client/client.ts';
import { InterludeError } from '../../client/interlude-error.ts';
import type { Conversation, ConversationMessages } from '../../contract/conversations.ts';
import type { Editor } from './editor.ts';
import { Session } from './session.ts';
import { sessionNotFound, toRequestError } from './request-errors.ts';

export interface SessionsParts {
  client: Client;
  editor: Editor;
  service: string;
  /** Whom new sessions talk to; undefined is the service's first agent. */
  agent: string | undefined;
}

export interface Opened {
  session: Session;
  agents: string[];
}

export interface Loaded extends Opened {
  /** What was said, oldest first. */
  messages: ConversationMessages['messages']['items'];
  follow: (from: 'from-its-start' | 'from-now') => void;
}

export class Sessions {
  readonly #parts: SessionsParts;
  readonly #open = new Map<string, Session>();

  constructor(parts: SessionsParts) {
    this.#parts = parts;
  }

  async create(): Promise<Opened> {
    const agents = await this.agents();
    const { agent } = this.#parts;
    if (agent !== undefined) requireAgent(agent, agents);
    return { session: this.#add(randomUUID(), agent), agents };
  }

  /** The session follows what is said from then on as soon as `follow` is called. */
  async load(id: string): Promise<Loaded> {
    const { client } = this.#parts;
    const [agents, found] = await Promise.all([this.agents(), refused(readAll(client, id), id)]);
    const { conversation, messages } = found;
    this.#open.get(id)?.leave();
    const session = this.#add(id, conversation.agent);
    const { agent, position, turn } = conversation;
    const standing = { agent, position, liveTurn: turn?.turnId };
    session.hasBegun = true;
    return {
      session,
      agents,
      messages,
      // What a live turn has said before is known to who resumes.
      follow: (from) => session.join({ ...standing, mutedUntil: from === 'from-now' ? client.now() : 0 }),
    };
  }

  async list(cursor: string | undefined): Promise<{ items: Conversation[]; next: string | null }> {
    return refused(this.#parts.client.conversations(cursor === undefined ? {} : { cursor }));
  }

  /** Of this connection: what another one has opened is opened here first. */
  named(id: string): Session {
    const session = this.find(id);
    if (!session) throw sessionNotFound(id);
    return session;
  }

  find(id: string): Session | undefined {
    return this.#open.get(id);
  }

  close(id: string): void {
    this.named(id).close();
    this.#open.delete(id);
  }

  /** The editor is gone; what the service is asked for goes on. */
  leaveAll(): void {
    for (const session of this.#open.values()) session.leave();
    this.#open.clear();
  }

  async agents(): Promise<string[]> {
    const agents = await refused(this.#parts.client.agents());
    return agents.map(({ id }) => id);
  }

  #add(id: string, agent: string | undefined): Session {
    const { client, editor, service } = this.#parts;
    const session = new Session({ id, client, editor, service }, agent);
    this.#open.set(id, session);
    return session;
  }
}

export function requireAgent(agent: string, agents: readonly string[]): void {
  if (agents.includes(agent)) return;
  const known = agents.join(', ');
  throw RequestError.invalidParams(undefined, `There is no agent of the name ${agent}. There is: ${known}.`);
}

/** All pages of what was said, and where the newest of them ends. */
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
