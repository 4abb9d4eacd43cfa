/** CopilotKit: its hooks speak to its runtime in the backend, which speaks to the service. */
import { useEffect } from 'react';
import { createRoot } from 'react-dom/client';
import {
  CopilotChatConfigurationProvider,
  CopilotKitProvider,
  useAgent,
  useCopilotKit,
  useInterrupt,
} from '@copilotkit/react-core/v2';
import { Conversation, Text, ToolCall } from './conversation.tsx';
import { authorization, threadId } from './interlude.ts';
import { Questions } from './questions.tsx';
import { useRun } from './use-run.ts';

const { authorization: token } = await authorization();
// The runtime forwards this header.
const headers = { authorization: token };

function App() {
  return (
    <CopilotKitProvider
      runtimeUrl="/api/copilotkit"
      headers={headers}
      agentId="assistant"
      enableInspector={false}
    >
      <CopilotChatConfigurationProvider agentId="assistant" threadId={threadId}>
        <Thread />
      </CopilotChatConfigurationProvider>
    </CopilotKitProvider>
  );
}

function Thread() {
  const { copilotkit } = useCopilotKit();
  const { agent, isReady } = useAgent();
  const connect = () => void copilotkit.connectAgent({ agent });
  const run = useRun(agent, connect);
  const questions = useInterrupt({
    renderInChat: false,
    render: ({ interrupts, resolve, cancel }) => (
      <Questions
        interrupts={interrupts}
        onAnswers={(entries) => {
          for (const { interruptId, status, payload } of entries)
            void (status === 'resolved' ? resolve(payload, interruptId) : cancel(interruptId));
        }}
      />
    ),
  });

  useEffect(() => {
    if (!isReady) return;
    agent.threadId = threadId;
    connect();
  }, [agent, isReady]);

  function send(text: string) {
    agent.addMessage({ id: crypto.randomUUID(), role: 'user', content: text });
    // A message instead of answers cancels the open questions.
    const resume = agent.pendingInterrupts.map(({ id }) => ({
      interruptId: id,
      status: 'cancelled' as const,
    }));
    void copilotkit.runAgent({ agent, ...(resume.length > 0 && { resume }) });
  }

  // Until then, the agent is a placeholder.
  if (!isReady) return null;
  const results = new Set(agent.messages.map((message) => message.role === 'tool' && message.toolCallId));
  return (
    <Conversation isEmpty={agent.messages.length === 0} isRunning={agent.isRunning} run={run} onSend={send}>
      {agent.messages.map((message) =>
        message.role === 'user' || message.role === 'assistant' ? (
          <article key={message.id} className={message.role}>
            {typeof message.content === 'string' && <Text text={message.content} />}
            {message.role === 'assistant' &&
              message.toolCalls?.map((call) => (
                <ToolCall key={call.id} name={call.function.name} isDone={results.has(call.id)} />
              ))}
          </article>
        ) : null,
      )}
      {questions}
    </Conversation>
  );
}

createRoot(document.getElementById('root') as HTMLElement).render(<App />);
