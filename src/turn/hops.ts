/**
 * How often a task has been handed on, from agent to agent and from service to service, so that agents that call each other
 * in a circle come to an end. The number travels with each call; whoever forges it can only lower what is left. Pure.
 */

/** In `_meta` of MCP requests and in `metadata` of A2A messages. */
export const hopsKey = 'interlude/hops';

/** Of a caller that says nothing, or nothing that can be understood: 0. */
export function readHops(metadata: Record<string, unknown> | undefined): number {
  const hops = metadata?.[hopsKey];
  return typeof hops === 'number' && Number.isInteger(hops) && hops > 0 ? hops : 0;
}

/** What the model that would hand it on reads, behind the name of whom it wanted to ask. */
export function handedOnTooOften(limit: number): string {
  const times = limit === 1 ? 'once' : `${limit} times`;
  return (
    `agents may hand a task on ${times} at most, and this one has been handed on as often. ` +
    'Do the task yourself as far as you can, and say in your answer what is left.'
  );
}
