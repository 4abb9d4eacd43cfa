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
import type { Standing } from './telling.ts';
import { sessionNotFound, toRequestError } from './request-errors.ts';
import { titleFrom } from './updates/session-title.ts';

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

export interface Listed {
  items: (Conversation & { cwd: string; title: string })[];
  next: string | null;
}

export interface Loaded extends Opened {
  /** What was said, oldest first. */
  messages: ConversationMessages['messages']['items'];
  /** Whether a turn is going on. */
  isLive: boolean;
  follow: (live: Pick<Standing, 'isTold'>) => void;
}

export class Sessions {
  readonly #parts: SessionsParts;
  readonly #open = new Map<string, Session>();
  /** Of sessions that were listed, by their ids. */
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

  /** The session follows what is said from then on as soon as `follow` is called. */
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
      follow: ({ isTold }) => session.join(agent, { position, liveTurn: turn?.turnId, isTold }),
    };
  }

  /**
   * A conversation belongs to no folder. One that is open here is in the folder that it was opened for, any other in that
   * of this program, which editors start where they are at work.
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

  /** What it began with, as far back as one page goes; of one that cannot be read or holds no words, its agent. */
  async #titleOf({ id, agent }: Conversation): Promise<string> {
    const known = this.#titles.get(id);
    if (known !== undefined) return known;
    const found = await this.#parts.client.conversation(id, { limit: 100 }).catch(() => null);
    const { items = [], next = null } = found?.messages ?? {};
    const title = titleFrom(items);
    // What it began with stays what it is.
    if (title !== undefined && next === null) this.#titles.set(id, title);
    return title ?? agent;
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
