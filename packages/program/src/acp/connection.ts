/**
 * One connection of an editor, for every version of the protocol: its user, and what they can do. Shapes are those of v1. Throws
 * `RequestError`s.
 */
import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { RequestError } from '@agentclientprotocol/sdk';
import type {
  PromptRequest,
  SessionConfigOption,
  SessionInfo,
  SessionModeState,
} from '@agentclientprotocol/sdk';
import { createClient } from '@interlude-ai/client/client.ts';
import type { Client } from '@interlude-ai/client/client.ts';
import { withTimeout } from '@interlude-ai/core/with-timeout.ts';
import { ourCommand } from '@interlude-ai/kit/terminal/program-command.ts';
import type { Editor } from './editor.ts';
import type { Identity } from './identity.ts';
import { toPromptMessage } from './prompt-message.ts';
import { requireAgent, Sessions, titleOf } from './sessions.ts';
import type { Opened } from './sessions.ts';
import type { TurnEnd } from './turns.ts';
import { historyUpdates } from './updates.ts';

export interface ConnectionParts {
  /** Its address, without a trailing slash. */
  service: string;
  identity: Identity;
  /** The agent of new sessions. */
  agent: string | undefined;
  /** Of this program. */
  version: string;
  /** The connections with the same token, where it is known that there may be several. */
  connections?: Set<Connection>;
}

export class Connection {
  readonly #parts: ConnectionParts;
  readonly #editor: Editor;
  readonly #client: Client;
  readonly #sessions: Sessions;

  constructor(parts: ConnectionParts, editor: Editor) {
    const { service, identity, agent } = parts;
    this.#parts = parts;
    this.#editor = editor;
    this.#client = createClient({
      baseUrl: service,
      token: () => identity.token(),
      // Links are asked only if the editor can open one: otherwise the service fails closed, and says where to connect
      // accounts. Forms are always asked: approvals are forms, every editor can ask for those, and a form without a
      // dialog is asked as text.
      capabilities: { form: true, url: editor.modes.url },
      language: 'en',
    });
    this.#sessions = new Sessions({ client: this.#client, editor, service, agent });
    parts.connections?.add(this);
  }

  /** Whether a turn is under way in one of its sessions. */
  get isBusy(): boolean {
    return this.#sessions.isBusy;
  }

  /**
   * Whether the agent of new sessions takes images. False while no user is signed in, and when the service does not
   * answer at once.
   */
  async takesImages(): Promise<boolean> {
    const { identity, agent } = this.#parts;
    const signal = AbortSignal.timeout(greetingTimeoutMs);
    const ask = async () => {
      await identity.require();
      const agents = await this.#client.agents({ signal });
      return (agent === undefined ? agents[0] : agents.find(({ id }) => id === agent))?.images === true;
    };
    // What precedes that request takes no signal.
    const answer = ask().catch(() => false);
    return withTimeout(answer, greetingTimeoutMs, false, { ref: false });
  }

  async login(methodId: string): Promise<object> {
    const { identity } = this.#parts;
    if (methodId !== browserLogin.id || !identity.isLogin)
      throw RequestError.invalidParams(undefined, `There is no way to sign in of the id ${methodId}.`);
    await identity.signIn();
    return {};
  }

  async logout(): Promise<object> {
    const { identity } = this.#parts;
    if (!identity.isLogin)
      throw RequestError.invalidRequest(
        undefined,
        'The token was given to this program, which keeps no login.',
      );
    await identity.signOut();
    return {};
  }

  async create(cwd: string) {
    requireAbsolute(cwd);
    await this.#parts.identity.require();
    const opened = await this.#sessions.create(cwd);
    return { sessionId: opened.session.id, ...chosen(opened) };
  }

  /** `isReplayed`: earlier messages are sent again. */
  async load({ sessionId, cwd }: { sessionId: string; cwd: string }, isReplayed: boolean) {
    requireAbsolute(cwd);
    await this.#parts.identity.require();
    const opened = await this.#sessions.load(sessionId, cwd);
    const updates = isReplayed ? historyUpdates(opened.messages) : [];
    for (const update of updates) await this.#editor.update(sessionId, update);
    await this.#editor.reportState(sessionId, { kind: opened.isLive ? 'running' : 'idle' });
    // After the response.
    setImmediate(() => opened.follow(isReplayed));
    return chosen(opened);
  }

  async list(given: { cwd?: string | null; cursor?: string | null }) {
    await this.#parts.identity.require();
    const { cwd, cursor } = given;
    const { items, next } = await this.#sessions.list({
      cwd: cwd ?? undefined,
      cursor: cursor ?? undefined,
    });
    const sessions: SessionInfo[] = items.map(({ id, title, updatedAt, cwd: folder }) => ({
      sessionId: id,
      cwd: folder,
      title,
      updatedAt,
    }));
    return { sessions, ...(next !== null && { nextCursor: next }) };
  }

  close(sessionId: string): object {
    this.#sessions.close(sessionId);
    return {};
  }

  async setOption(sessionId: string, option: string, value: unknown) {
    if (option !== agentOption || typeof value !== 'string')
      throw RequestError.invalidParams(
        undefined,
        `There is one option, ${agentOption}: the name of an agent.`,
      );
    return this.choose(sessionId, value);
  }

  async choose(sessionId: string, name: string) {
    const session = this.#sessions.named(sessionId);
    const agents = await this.#sessions.agents();
    requireAgent(name, agents);
    if (session.hasBegun && session.agent !== name)
      throw RequestError.invalidParams(
        undefined,
        'This conversation has begun. Another agent needs a new session.',
      );
    session.agent = name;
    return chosen({ session, agents });
  }

  /** `accepted` is called with the message's id when the service has the message. */
  async prompt(
    { sessionId, prompt }: PromptRequest,
    { signal, accepted }: { signal: AbortSignal; accepted?: (messageId: string) => void },
  ): Promise<TurnEnd> {
    const session = this.#sessions.named(sessionId);
    if (session.isPrompting)
      throw RequestError.invalidRequest(
        undefined,
        'This session is still busy with the prompt before; cancel it first.',
      );
    const message = toPromptMessage(prompt);
    if (message.kind === 'refused') throw RequestError.invalidParams(undefined, message.reason);
    // A request that is cancelled by its id. A lost connection cancels nothing.
    const cancel = () => setImmediate(() => this.#editor.closed.aborted || session.cancel());
    signal.addEventListener('abort', cancel, { once: true });
    const isFirst = !session.hasBegun;
    const id = randomUUID();
    try {
      const end = await session.prompt({ ...message, id }, () => accepted?.(id));
      if (isFirst && session.hasBegun) await this.#reportBegun(sessionId, message.text);
      return end;
    } finally {
      signal.removeEventListener('abort', cancel);
    }
  }

  cancel(sessionId: string): void {
    this.#sessions.find(sessionId)?.cancel();
  }

  leave(): void {
    this.#parts.connections?.delete(this);
    this.#sessions.leaveAll();
  }

  /** The conversation has begun: it has a title, and its agent is fixed. */
  async #reportBegun(sessionId: string, text: string): Promise<void> {
    const session = this.#sessions.find(sessionId);
    if (!session) return;
    const title = titleOf(text);
    if (title !== '') await this.#editor.update(sessionId, { sessionUpdate: 'session_info_update', title });
    const agents = session.agent === undefined ? await this.#sessions.agents() : [];
    await this.#editor.update(sessionId, {
      sessionUpdate: 'config_option_update',
      configOptions: configOptions({ agents, session }),
    });
  }
}

/** An editor waits for the greeting before it does anything else. */
const greetingTimeoutMs = 2_000;

export const browserLogin = {
  id: 'browser-login',
  name: 'Sign in with your browser',
  description: `Opens your browser. Where it cannot be opened, sign in once in a terminal instead: ${ourCommand('login --device')}`,
};

function requireAbsolute(cwd: string): void {
  if (!path.posix.isAbsolute(cwd) && !path.win32.isAbsolute(cwd))
    throw RequestError.invalidParams(undefined, 'cwd must be an absolute path.');
}

function chosen({ agents, session }: Pick<Opened, 'agents' | 'session'>) {
  return { configOptions: configOptions({ agents, session }), modes: modes({ agents, session }) };
}

// The agent is an option of the session. It can be changed until the conversation begins.

const agentOption = 'agent';

interface Choosing {
  /** All of them, the service's first one first. */
  agents: readonly string[];
  session: { agent: string | undefined; hasBegun: boolean };
}

function configOptions({ agents, session }: Choosing): SessionConfigOption[] {
  const current = currentOf({ agents, session });
  return [
    {
      id: agentOption,
      name: 'Agent',
      description: session.hasBegun
        ? 'The agent of this conversation. Another agent needs a new session.'
        : 'The agent to talk to.',
      category: 'mode',
      type: 'select',
      currentValue: current,
      options: offered({ agents, session }).map((name) => ({ value: name, name: agentTitle(name) })),
    },
  ];
}

/** The same, for clients that do not know options yet. */
function modes({ agents, session }: Choosing): SessionModeState {
  return {
    currentModeId: currentOf({ agents, session }),
    availableModes: offered({ agents, session }).map((name) => ({ id: name, name: agentTitle(name) })),
  };
}

function currentOf({ agents, session }: Choosing): string {
  return session.agent ?? agents[0] ?? '';
}

function offered({ agents, session }: Choosing): readonly string[] {
  return session.hasBegun ? [currentOf({ agents, session })] : agents;
}

function agentTitle(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1).replaceAll(/[-_]+/g, ' ');
}
