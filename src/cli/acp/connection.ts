/**
 * One connection of an editor, whichever version of the protocol it speaks: who its user is, and what they can do. Shapes
 * are those of v1. Throws `RequestError`s.
 */
import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { RequestError } from '@agentclientprotocol/sdk';
import type { PromptRequest, SessionInfo } from '@agentclientprotocol/sdk';
import { createClient } from '../../client/client.ts';
import type { Client } from '../../client/client.ts';
import { withTimeout } from '../../time/with-timeout.ts';
import { configOptions, modes } from './agent-options.ts';
import type { Editor } from './editor.ts';
import type { Identity } from './identity.ts';
import { requireAgent, Sessions } from './sessions.ts';
import type { Opened } from './sessions.ts';
import { historyUpdates } from './updates/history.ts';
import { toPromptMessage } from './updates/prompt-message.ts';
import { titleOf } from './updates/session-title.ts';
import type { TurnEnd } from './updates/stop-reason.ts';
import { programCommand } from '../program-command.ts';

export interface ConnectionParts {
  /** The service's address, without a slash at the end. */
  service: string;
  identity: Identity;
  /** Whom new sessions talk to. */
  agent: string | undefined;
  /** Of this program. */
  version: string;
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
      // Links are asked about only where the editor can open one: elsewhere the service fails closed, and says where
      // accounts are connected. Forms always, because approvals are one: every editor can ask for those, and a form
      // without a dialog is put in words.
      capabilities: { form: true, url: editor.modes.url },
    });
    this.#sessions = new Sessions({ client: this.#client, editor, service, agent });
  }

  /**
   * Whether the agent that new sessions talk to takes images, as far as that can be told when the editor asks for it: false
   * where nobody is signed in yet, or the service does not answer at once.
   */
  async takesImages(): Promise<boolean> {
    const { identity, agent } = this.#parts;
    const signal = AbortSignal.timeout(greetingTimeoutMs);
    const ask = async () => {
      await identity.require();
      const agents = await this.#client.agents({ signal });
      return (agent === undefined ? agents[0] : agents.find(({ id }) => id === agent))?.images === true;
    };
    // What is waited for before that request takes no signal.
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

  /** `isTold`: what was said is told again. */
  async load({ sessionId, cwd }: { sessionId: string; cwd: string }, { isTold }: { isTold: boolean }) {
    requireAbsolute(cwd);
    await this.#parts.identity.require();
    const opened = await this.#sessions.load(sessionId, cwd);
    const updates = isTold ? historyUpdates(opened.messages) : [];
    for (const update of updates) await this.#editor.update(sessionId, update);
    await this.#editor.tellState(sessionId, { kind: opened.isLive ? 'running' : 'idle' });
    // The response goes first.
    setImmediate(() => opened.follow({ isTold }));
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

  /** `accepted` is called with the message's id when the service has it. */
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
    // A request that is cancelled by its id; one whose connection is gone is not cancelled.
    const cancel = () => setImmediate(() => this.#editor.closed.aborted || session.cancel());
    signal.addEventListener('abort', cancel, { once: true });
    const isFirst = !session.hasBegun;
    const id = randomUUID();
    try {
      const end = await session.prompt({ ...message, id }, () => accepted?.(id));
      if (isFirst && session.hasBegun) await this.#tellBegun(sessionId, message.text);
      return end;
    } finally {
      signal.removeEventListener('abort', cancel);
    }
  }

  cancel(sessionId: string): void {
    this.#sessions.find(sessionId)?.cancel();
  }

  /** The editor is gone. */
  leave(): void {
    this.#sessions.leaveAll();
  }

  /** From now on it has a name, and its agent is settled. */
  async #tellBegun(sessionId: string, text: string): Promise<void> {
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

/** An editor waits for the greeting before it does anything. */
const greetingTimeoutMs = 2_000;

export const browserLogin = {
  id: 'browser-login',
  name: 'Sign in with your browser',
  description: `Opens your browser. Where it cannot be opened, sign in once in a terminal instead: ${programCommand()} login --device`,
};

function requireAbsolute(cwd: string): void {
  if (!path.posix.isAbsolute(cwd) && !path.win32.isAbsolute(cwd))
    throw RequestError.invalidParams(undefined, 'cwd must be an absolute path.');
}

function chosen({ agents, session }: Pick<Opened, 'agents' | 'session'>) {
  return { configOptions: configOptions({ agents, session }), modes: modes({ agents, session }) };
}
