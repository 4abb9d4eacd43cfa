/** An editor on the SDK's client: records what it receives, and answers questions as the test says. */
import { client, methods, PROTOCOL_VERSION } from '@agentclientprotocol/sdk';
import type {
  ClientCapabilities,
  ClientConnection,
  ClientContext,
  CreateElicitationRequest,
  InitializeResponse,
  PromptResponse,
  RequestPermissionRequest,
  SessionUpdate,
  Stream,
} from '@agentclientprotocol/sdk';
import type { AgentApp } from '@agentclientprotocol/sdk';
import { createWaiting } from '../../../../test/waiting.ts';

export interface Person {
  /** What the user does with a dialog; throws for a client that fails. */
  answer?: (params: CreateElicitationRequest, signal: AbortSignal) => unknown;
  permit?: (params: RequestPermissionRequest, signal: AbortSignal) => string | Promise<string>;
}

export interface EditorOptions extends Person {
  capabilities?: ClientCapabilities;
  /** Not to be initialized. */
  bare?: boolean;
}

const bothModes: ClientCapabilities = { elicitation: { form: {}, url: {} } };

export interface PlayedEditor {
  agent: ClientContext;
  hello: InitializeResponse;
  updates: { sessionId: string; update: SessionUpdate }[];
  elicitations: CreateElicitationRequest[];
  permissions: RequestPermissionRequest[];
  completed: string[];
  /** How often a dialog was taken away. */
  withdrawn: number;
  /** Changed at any time. */
  person: Person;
  newSession(): Promise<string>;
  prompt(sessionId: string, text: string): Promise<PromptResponse>;
  cancel(sessionId: string): Promise<void>;
  /** What the agent has said in a session. */
  said(sessionId: string): string;
  /** Resolves once it holds. */
  until(holds: () => boolean): Promise<void>;
  close(): void;
  connection: ClientConnection;
}

export async function playEditor(
  target: AgentApp | Stream,
  { capabilities = bothModes, bare = false, ...person }: EditorOptions = {},
): Promise<PlayedEditor> {
  const editor = {
    updates: [],
    elicitations: [],
    permissions: [],
    completed: [],
    withdrawn: 0,
    person,
  } as unknown as PlayedEditor;
  const { wake: changed, until } = createWaiting();
  const withdrawing = (signal: AbortSignal) =>
    signal.addEventListener('abort', () => {
      editor.withdrawn += 1;
      changed();
    });
  const app = client({ name: 'test' })
    .onNotification(methods.client.session.update, ({ params }) => {
      editor.updates.push(params);
      changed();
    })
    .onNotification(methods.client.elicitation.complete, ({ params }) => {
      editor.completed.push(params.elicitationId);
      changed();
    })
    .onRequest(methods.client.elicitation.create, async ({ params, signal }) => {
      editor.elicitations.push(params);
      withdrawing(signal);
      changed();
      return ((await editor.person.answer?.(params, signal)) ?? { action: 'cancel' }) as { action: 'cancel' };
    })
    .onRequest(methods.client.session.requestPermission, async ({ params, signal }) => {
      editor.permissions.push(params);
      withdrawing(signal);
      changed();
      const optionId = await editor.person.permit?.(params, signal);
      return optionId === undefined
        ? { outcome: { outcome: 'cancelled' } }
        : { outcome: { outcome: 'selected', optionId } };
    });
  const connection = app.connect(target as Stream);
  const { agent } = connection;
  if (!bare)
    editor.hello = await agent.request(methods.agent.initialize, {
      protocolVersion: PROTOCOL_VERSION,
      clientCapabilities: capabilities,
    });
  return Object.assign(editor, {
    agent,
    connection,
    async newSession() {
      const { sessionId } = await agent.request(methods.agent.session.new, {
        cwd: '/project',
        mcpServers: [],
      });
      return sessionId;
    },
    prompt: (sessionId: string, text: string) =>
      agent.request(methods.agent.session.prompt, { sessionId, prompt: [{ type: 'text', text }] }),
    cancel: (sessionId: string) => agent.notify(methods.agent.session.cancel, { sessionId }),
    said: (sessionId: string) =>
      editor.updates
        .filter((one) => one.sessionId === sessionId)
        .flatMap(({ update }) =>
          update.sessionUpdate === 'agent_message_chunk' && update.content.type === 'text'
            ? [update.content.text]
            : [],
        )
        .join(''),
    until: (holds: () => boolean) => until(holds).then(() => undefined),
    close: () => connection.close(),
  });
}
