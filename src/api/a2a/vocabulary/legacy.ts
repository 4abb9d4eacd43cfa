/** Cards and tasks of A2A 0.3. The SDK translates them only as part of answering a request, so we make one. Pure. */
import type { AgentCard, Task } from '@a2a-js/sdk';
import { LegacyJsonRpcTransportHandler } from '@a2a-js/sdk/compat/v0_3/server';
import { ServerCallContext } from '@a2a-js/sdk/server';
import type { A2ARequestHandler } from '@a2a-js/sdk/server';

export function toLegacyCard(card: AgentCard): Promise<Record<string, unknown>> {
  return answerOf(
    { getAuthenticatedExtendedAgentCard: async () => card },
    'agent/getAuthenticatedExtendedCard',
  );
}

export function toLegacyTask(task: Task): Promise<Record<string, unknown>> {
  return answerOf({ getTask: async () => task }, 'tasks/get', { id: task.id });
}

async function answerOf(
  handler: Partial<A2ARequestHandler>,
  method: string,
  params?: object,
): Promise<Record<string, unknown>> {
  const request = { jsonrpc: '2.0', id: 1, method, ...(params && { params }) };
  const transport = new LegacyJsonRpcTransportHandler(handler as A2ARequestHandler);
  const answer = await transport.handle(request, new ServerCallContext());
  if (!('result' in answer)) throw new Error(`A2A 0.3 has no answer to ${method}`);
  return answer.result as unknown as Record<string, unknown>;
}
