/** The program as an agent of ACP v1, for one connection. Only the protocol: what sessions do is theirs. */
import path from 'node:path';
import { agent, methods, PROTOCOL_VERSION, RequestError } from '@agentclientprotocol/sdk';
import type {
  AgentApp,
  AgentContext,
  AuthMethod,
  InitializeRequest,
  InitializeResponse,
  PromptRequest,
  PromptResponse,
} from '@agentclientprotocol/sdk';
import { agentOption, configOptions, modes } from './agent-options.ts';
import { openSessions } from './connection.ts';
import type { ConnectionParts } from './connection.ts';
import type { Editor } from './editor.ts';
import { createEditorV1 } from './editor-v1.ts';
import { asRequestError } from './request-errors.ts';
import { requireAgent } from './sessions.ts';
import type { Opened, Sessions } from './sessions.ts';
import { historyUpdates } from './updates/history.ts';
import { toPromptMessage } from './updates/prompt-message.ts';
import type { TurnEnd } from './updates/stop-reason.ts';

const { initialize, authenticate, logout, session } = methods.agent;

export function createAgentV1(parts: ConnectionParts): AgentApp {
  const connection = new ConnectionV1(parts);
  return agent({ name: 'interlude' })
    .onConnect(({ signal }) => signal.addEventListener('abort', () => connection.close(), { once: true }))
    .onRequest(initialize, ({ params, client }) => connection.initialize(params, client))
    .onRequest(authenticate, ({ params }) => answered(connection.authenticate(params.methodId)))
    .onRequest(logout, () => answered(connection.logout()))
    .onRequest(session.new, ({ params }) => answered(connection.create(params.cwd)))
    .onRequest(session.load, ({ params }) => answered(connection.load(params.sessionId)))
    .onRequest(session.resume, ({ params }) => answered(connection.resume(params.sessionId)))
    .onRequest(session.list, ({ params }) => answered(connection.list(params)))
    .onRequest(session.close, ({ params }) => answered(connection.closeSession(params.sessionId)))
    .onRequest(session.setMode, async ({ params }) => {
      await answered(connection.choose(params.sessionId, params.modeId));
      return {};
    })
    .onRequest(session.setConfigOption, ({ params }) => {
      if (params.configId !== agentOption || typeof params.value !== 'string')
        throw RequestError.invalidParams(
          undefined,
          `There is one option, ${agentOption}: the name of an agent.`,
        );
      return answered(connection.choose(params.sessionId, params.value));
    })
    .onRequest(session.prompt, ({ params, signal }) => answered(connection.prompt(params, signal)))
    .onNotification(session.cancel, ({ params }) => connection.cancel(params.sessionId));
}

class ConnectionV1 {
  readonly #parts: ConnectionParts;
  readonly #closed = new AbortController();
  #editor: Editor | undefined;
  #sessions: Sessions | undefined;

  constructor(parts: ConnectionParts) {
    this.#parts = parts;
  }

  initialize({ clientCapabilities = {} }: InitializeRequest, client: AgentContext): InitializeResponse {
    const { identity, version } = this.#parts;
    this.#editor = createEditorV1(client, clientCapabilities, this.#closed.signal);
    this.#sessions = openSessions(this.#parts, this.#editor);
    return {
      protocolVersion: PROTOCOL_VERSION,
      agentInfo: { name: 'interlude', title: 'Interlude', version },
      agentCapabilities: {
        loadSession: true,
        promptCapabilities: { embeddedContext: true, image: false, audio: false },
        mcpCapabilities: { http: false, sse: false },
        sessionCapabilities: { list: {}, resume: {}, close: {} },
        ...(identity.isLogin && { auth: { logout: {} } }),
      },
      authMethods: identity.isLogin ? [browserLogin] : [],
    };
  }

  close(): void {
    this.#closed.abort();
    this.#sessions?.leaveAll();
  }

  async authenticate(methodId: string): Promise<object> {
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
    if (!path.posix.isAbsolute(cwd) && !path.win32.isAbsolute(cwd))
      throw RequestError.invalidParams(undefined, 'cwd must be an absolute path.');
    await this.#parts.identity.require();
    const opened = await this.#all.create();
    return { sessionId: opened.session.id, ...chosen(opened) };
  }

  async load(id: string) {
    const opened = await this.#load(id);
    for (const update of historyUpdates(opened.messages)) await this.#editor?.update(id, update);
    // The response goes first.
    setImmediate(() => opened.follow('from-its-start'));
    return chosen(opened);
  }

  async resume(id: string) {
    const opened = await this.#load(id);
    setImmediate(() => opened.follow('from-now'));
    return chosen(opened);
  }

  async list({ cwd, cursor }: { cwd?: string | null; cursor?: string | null }) {
    await this.#parts.identity.require();
    const { items, next } = await this.#all.list(cursor ?? undefined);
    return {
      // A conversation belongs to no folder: it is there in whichever one is asked for.
      sessions: items.map(({ id, agent: name, updatedAt }) => ({
        sessionId: id,
        cwd: cwd ?? process.cwd(),
        title: name,
        updatedAt,
      })),
      ...(next !== null && { nextCursor: next }),
    };
  }

  async closeSession(id: string): Promise<object> {
    this.#all.close(id);
    return {};
  }

  async choose(id: string, name: string) {
    const found = this.#all.named(id);
    const agents = await this.#all.agents();
    requireAgent(name, agents);
    if (found.hasBegun && found.agent !== name)
      throw RequestError.invalidParams(
        undefined,
        'This conversation has begun. Another agent needs a new session.',
      );
    found.agent = name;
    return chosen({ session: found, agents });
  }

  async prompt({ sessionId, prompt }: PromptRequest, signal: AbortSignal): Promise<PromptResponse> {
    const found = this.#all.named(sessionId);
    if (found.isPrompting)
      throw RequestError.invalidRequest(
        undefined,
        'This session is still busy with the prompt before; cancel it first.',
      );
    const message = toPromptMessage(prompt);
    if (message.kind === 'refused') throw RequestError.invalidParams(undefined, message.reason);
    // A request that is cancelled by its id; one whose connection is gone is not cancelled.
    const cancel = () => setImmediate(() => this.#closed.signal.aborted || found.cancel());
    signal.addEventListener('abort', cancel, { once: true });
    const isFirst = !found.hasBegun;
    const end = await found.prompt(message);
    signal.removeEventListener('abort', cancel);
    if (isFirst) await this.#tellBegun(sessionId, message.text);
    return toResponse(end);
  }

  cancel(id: string): void {
    this.#sessions?.find(id)?.cancel();
  }

  get #all(): Sessions {
    // The SDK refuses every request before this one.
    if (!this.#sessions) throw RequestError.invalidRequest(undefined, 'initialize comes first.');
    return this.#sessions;
  }

  async #load(id: string) {
    await this.#parts.identity.require();
    return this.#all.load(id);
  }

  /** From now on it has a name, and its agent is settled. */
  async #tellBegun(id: string, text: string): Promise<void> {
    const found = this.#all.find(id);
    if (!found?.hasBegun) return;
    const title = text.replaceAll(/\s+/g, ' ').slice(0, 80);
    await this.#editor?.update(id, { sessionUpdate: 'session_info_update', title });
    const options = configOptions({
      agents: found.agent === undefined ? await this.#all.agents() : [],
      session: found,
    });
    await this.#editor?.update(id, { sessionUpdate: 'config_option_update', configOptions: options });
  }
}

const browserLogin: AuthMethod & { id: string } = {
  id: 'browser-login',
  name: 'Sign in with your browser',
  description:
    'Opens your browser. Where it cannot be opened, sign in once in a terminal instead: npx interlude login --device',
};

function chosen({ agents, session: opened }: Pick<Opened, 'agents' | 'session'>) {
  return {
    configOptions: configOptions({ agents, session: opened }),
    modes: modes({ agents, session: opened }),
  };
}

function toResponse(end: TurnEnd): PromptResponse {
  switch (end.kind) {
    case 'stopped':
      return { stopReason: end.stopReason };
    case 'waiting':
      // What the user says next is the answer, or asks again.
      return { stopReason: 'end_turn' };
    case 'failed':
      throw RequestError.internalError(undefined, end.message);
    default:
      return end satisfies never;
  }
}

/** The SDK would tell the client all of an error that is not its own. */
async function answered<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw asRequestError(error);
  }
}
