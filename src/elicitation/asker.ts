/**
 * Who asks, and which tool calls wait for the answer, as far as a question's context says. Only its trigger is sure to
 * be there: a question of a tool of our own, of the model, or an approval has no server. For every surface; pure.
 */
import type { Context } from './elicitation.ts';

/** What is read here of a context, whether of our own type or of the published one. */
type Partly<Member extends keyof Context> = { [Key in Member]?: Context[Key] | undefined };

/** Whose question it is, for people: the server's, the tool's, else the agent's. Undefined where the context names none. */
export function askerTitle({
  serverTitle,
  server,
  toolTitle,
  agent,
}: Partly<'serverTitle' | 'server' | 'toolTitle' | 'agent'>): string | undefined {
  return serverTitle ?? server ?? toolTitle ?? agent;
}

/** The agents on the way to the question, outermost first. The last of `path` is the one that asks, which `agent` names for people. */
export function whoAsks({ agent, path = [] }: Partly<'agent' | 'path'>): string[] {
  const last = agent ?? path.at(-1);
  return [...path.slice(0, -1), ...(last === undefined ? [] : [last])];
}

/**
 * Whether a tool call waits for this question. Most questions belong to one call, which they name. An account is
 * missing to every call of its server, and asked for once.
 */
export function isWaitingFor(
  { trigger, toolCallId, server }: { trigger: string } & Partly<'toolCallId' | 'server'>,
  call: { toolCallId: string; toolName: string },
): boolean {
  if (toolCallId === call.toolCallId) return true;
  return trigger === 'credential_required' && server !== undefined && isCallOf(server, call.toolName);
}

/** By the name under which the model knows the tool. */
export function isCallOf(server: string, toolName: string): boolean {
  return toolName === `connect_${server}` || toolName.startsWith(`${server}__`);
}
