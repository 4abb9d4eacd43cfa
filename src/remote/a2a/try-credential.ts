/**
 * Whether a remote agent takes a credential. An agent is one tool, which the agents file describes, so there is no list to be
 * read: it is asked for a task that does not exist, which answers before any account is looked at, or after.
 */
import { randomUUID } from 'node:crypto';
import { startDeadline } from '../deadline.ts';
import type { ListOutcome } from '../remote-servers.ts';
import { connectAgent } from './connect.ts';
import type { Target } from './connect.ts';
import { outcomeOfFailure } from './request-failure.ts';

export async function tryCredential(target: Target): Promise<ListOutcome> {
  using deadline = startDeadline(Math.min(target.server.timeout, 30_000), target.signal);
  const agent = await connectAgent({ ...target, signal: deadline.signal });
  if (agent.kind !== 'connected') return agent;
  try {
    await agent.client.getTask({ tenant: '', id: randomUUID(), historyLength: 0 }, agent.options);
  } catch (error) {
    const outcome = outcomeOfFailure(agent, error);
    if (outcome.kind === 'refused' || outcome.kind === 'unreachable') return outcome;
    if (outcome.kind === 'unknown') return { kind: 'unreachable', message: outcome.message };
  }
  return { kind: 'tools', tools: [], leftOut: [], audience: 'tenant', freshMs: null };
}
