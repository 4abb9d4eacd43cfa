/** assistant-ui: its AG-UI runtime speaks to the service itself. */
import { useMemo } from 'react';
import { createRoot } from 'react-dom/client';
import { HttpAgent } from '@ag-ui/client';
import {
  AssistantRuntimeProvider,
  MessagePrimitive,
  ThreadPrimitive,
  useAuiState,
} from '@assistant-ui/react';
import type { ToolCallMessagePartProps } from '@assistant-ui/react';
import {
  useAgUiInterrupts,
  useAgUiRuntime,
  useAgUiSteerAway,
  useAgUiSubmitInterruptResponses,
} from '@assistant-ui/react-ag-ui';
import type { AgUiAssistantRuntime } from '@assistant-ui/react-ag-ui';
import { Conversation, Text, ToolCall } from './conversation.tsx';
import { agentUrl, authorization, isNewThread, threadId } from './interlude.ts';
import { Questions } from './questions.tsx';
import { useRun } from './use-run.ts';

/** Each request has a fresh token. */
async function signedIn(url: string, init: RequestInit): Promise<Response> {
  return fetch(url, { ...init, headers: { ...(init.headers as object), ...(await authorization()) } });
}

/** `useRun` shows why a run failed. */
const isShown = () => undefined;

/** The service stores the thread: a run without a message reads it. */
const history = {
  load: () => Promise.resolve({ messages: [], unstable_resume: !isNewThread }),
  append: () => Promise.resolve(),
};

function App() {
  const agent = useMemo(() => new HttpAgent({ url: agentUrl, threadId, fetch: signedIn }), []);
  const runtime = useAgUiRuntime({ agent, adapters: { history } });
  return (
    <AssistantRuntimeProvider runtime={runtime}>
      <Thread agent={agent} runtime={runtime} />
    </AssistantRuntimeProvider>
  );
}

const none: [] = [];

function Thread({ agent, runtime }: { agent: HttpAgent; runtime: AgUiAssistantRuntime }) {
  const open = useAgUiInterrupts();
  const submit = useAgUiSubmitInterruptResponses();
  const steerAway = useAgUiSteerAway();
  const isRunning = useAuiState(({ thread }) => thread.isRunning);
  // They are there before their run has ended.
  const interrupts = isRunning ? none : open;
  const isEmpty = useAuiState(({ thread }) => thread.messages.length === 0);
  const run = useRun(agent, () => {
    const parentId = runtime.thread.getState().messages.at(-1)?.id ?? null;
    runtime.thread.startRun({ parentId });
  });
  return (
    <Conversation
      isEmpty={isEmpty}
      isRunning={isRunning}
      run={run}
      // A message instead of answers cancels the open questions.
      onSend={(text) => void steerAway(text).catch(isShown)}
    >
      <ThreadPrimitive.Messages components={{ UserMessage: Message, AssistantMessage: Message }} />
      <Questions interrupts={interrupts} onAnswers={(entries) => void submit(entries).catch(isShown)} />
    </Conversation>
  );
}

function Message() {
  const role = useAuiState(({ message }) => message.role);
  return (
    <article className={role}>
      <MessagePrimitive.Parts components={{ Text, Reasoning: () => null, tools: { Fallback: Call } }} />
    </article>
  );
}

const Call = ({ toolName, result }: ToolCallMessagePartProps) => (
  <ToolCall name={toolName} isDone={result !== undefined} />
);

createRoot(document.getElementById('root') as HTMLElement).render(<App />);
