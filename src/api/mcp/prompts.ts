/** Each agent as a prompt: what a person picks to have their client's model talk to it. Pure. */
import type { Service } from '../../service/service.ts';

type Agents = Service['agents'];

export function listPrompts(agents: Agents) {
  return [...agents.values()].map(({ name, title, description }) => ({
    name,
    title,
    description: description ?? `Talk to the agent ${title}`,
    arguments: [{ name: 'message', title: 'Message', description: `What ${title} is told`, required: true }],
  }));
}

/** Null when there is no such agent; a text when something is missing. */
export function readPrompt(agents: Agents, name: string, given: Record<string, unknown>) {
  const agent = agents.get(name);
  if (!agent) return null;
  const { message: written } = given;
  const message = typeof written === 'string' ? written.trim() : '';
  if (message === '') return 'The argument "message" is missing: what to tell the agent.';
  const text = `Call the tool ask_${name} with exactly this message, and show me its answer: ${message}`;
  return {
    description: agent.title,
    messages: [{ role: 'user' as const, content: { type: 'text' as const, text } }],
  };
}
