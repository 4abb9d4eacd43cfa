/** Tells a remote agent that nobody waits for its task any more. Best effort: one that is over already says so, and is left. */
import type { RemoteTask } from '../input-required.ts';
import type { Target } from './connect.ts';
import { connectAgent } from './connect.ts';

const timeoutMs = 5_000;

export async function cancelTask(
  { server, credential, cards }: Pick<Target, 'server' | 'credential' | 'cards'>,
  { taskId }: RemoteTask,
): Promise<void> {
  const signal = AbortSignal.timeout(timeoutMs);
  const agent = await connectAgent({ server, credential, signal, cards });
  if (agent.kind !== 'connected') return;
  await agent.client.cancelTask({ tenant: '', id: taskId, metadata: undefined }, agent.options);
}
