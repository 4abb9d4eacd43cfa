/**
 * The hop count: how often a task has been handed on, from agent to agent and from service to service. Its limit ends circles
 * of agents that call each other. The number travels with each call; a caller that forges it gets no more hops than a new
 * task has. Pure.
 */

/** In `_meta` of MCP requests and in `metadata` of A2A messages. */
export const hopsKey = 'interlude/hops';

/** 0 for a caller that sends none, or no positive whole number. */
export function readHops(metadata: Record<string, unknown> | undefined): number {
  const hops = metadata?.[hopsKey];
  return typeof hops === 'number' && Number.isInteger(hops) && hops > 0 ? hops : 0;
}

/** The error that the model reads when it would hand a task on once more; follows the name of the agent it called. */
export function handedOnTooOften(limit: number): string {
  const times = limit === 1 ? 'once' : `${limit} times`;
  return (
    `agents may hand a task on ${times} at most, and this one has been handed on as often. ` +
    'Do the task yourself as far as you can, and say in your answer what is left.'
  );
}
