/** How far the tasks of a turn may spread: how deep below its own agent, and how many in one step. */
import type { Config } from '../../config/config.ts';
import { handedOnTooOften } from '../../turn/hops.ts';
import type { Turn } from '../../turn/turn.ts';

/** The agent that is to have a task. */
export interface Delegate {
  agent: string;
  title: string;
  isRemote: boolean;
}

interface Delegating extends Delegate {
  toolCallId: string;
}

/** For each call that exceeds a limit, what the model reads as its result. The agents of these calls are not asked. */
export function delegationsRefused(
  calls: Delegating[],
  { delegation, hops = 0 }: Turn,
  { maxDepth, maxPerStep }: Config['delegation'],
): Map<string, string> {
  const depth = delegation?.path.length ?? 0;
  // A remote agent may be one of those that the task came from, and need not count itself.
  const isTooDeep = ({ isRemote }: Delegating) => depth + (isRemote ? hops : 0) >= maxDepth;
  const refused = new Map<string, string>();
  for (const [index, call] of calls.entries()) {
    const words = isTooDeep(call)
      ? handedOnTooOften(maxDepth)
      : index >= maxPerStep && tooManyAtOnce(maxPerStep);
    if (words) refused.set(call.toolCallId, `${call.title} was not asked: ${words}`);
  }
  return refused;
}

function tooManyAtOnce(limit: number): string {
  const first = limit === 1 ? 'one task' : `${limit} tasks`;
  return (
    `an agent may hand out ${first} at a time, and you have handed out as many in this step. ` +
    'When their answers are there, hand out what is left.'
  );
}
