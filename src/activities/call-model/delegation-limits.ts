/** How far the tasks of a turn may spread: how deep below its own agent, and how many in one step. */
import type { Config } from '../../config/config.ts';
import { handedOnTooOften } from '../../turn/hops.ts';
import type { Turn } from '../../turn/turn.ts';

interface Delegating {
  toolCallId: string;
  /** Of the agent that is to have the task. */
  title: string;
}

/** For each call that exceeds a limit, what the model reads as its result. The agents of these calls are not asked. */
export function delegationsRefused(
  calls: Delegating[],
  { delegation }: Turn,
  { maxDepth, maxPerStep }: Config['delegation'],
): Map<string, string> {
  const depth = delegation?.path.length ?? 0;
  const refused = depth >= maxDepth ? calls : calls.slice(maxPerStep);
  const words = depth >= maxDepth ? handedOnTooOften(maxDepth) : tooManyAtOnce(maxPerStep);
  return new Map(refused.map(({ toolCallId, title }) => [toolCallId, `${title} was not asked: ${words}`]));
}

function tooManyAtOnce(limit: number): string {
  const first = limit === 1 ? 'one task' : `${limit} tasks`;
  return (
    `an agent may hand out ${first} at a time, and you have handed out as many in this step. ` +
    'When their answers are there, hand out what is left.'
  );
}
