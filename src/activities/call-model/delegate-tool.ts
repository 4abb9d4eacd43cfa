/** Other agents as the model sees them: tools named `agent__<name>` that take a task. */
import type { AgentConfig, RemoteAgent, ServerConfig } from '../../config/config.ts';
import type { ModelTool } from '../../remote/model-tools.ts';
import { delegatePrefix } from '../../turn/call-result.ts';

export interface DelegateTool {
  modelName: string;
  agent: string;
  title: string;
  /** How many steps the agent may take for its task. */
  maxSteps: number;
  description: string;
  inputSchema: Record<string, unknown>;
}

export function toDelegateTool({ name, title, description, maxSteps }: AgentConfig): DelegateTool {
  return { modelName: delegatePrefix + name, agent: name, title, maxSteps, ...taskTool(title, description) };
}

/** A remote agent is called like a server that has one tool. */
export function toRemoteAgentTool({ name, title }: ServerConfig, { description }: RemoteAgent): ModelTool {
  return {
    modelName: delegatePrefix + name,
    server: name,
    tool: 'task',
    delegate: title,
    ...taskTool(title, description),
    readOnly: false,
    idempotent: false,
  };
}

/** Whose tool this is; undefined where it is none of a remote agent. */
export function remoteAgentOf(
  servers: ReadonlyMap<string, ServerConfig>,
  toolName: string,
): ServerConfig | undefined {
  return [...servers.values()].find(({ name, agent }) => agent && delegatePrefix + name === toolName);
}

function taskTool(title: string, description: string): Pick<ModelTool, 'description' | 'inputSchema'> {
  const who = description === '' ? title : `${title} (${description})`;
  return {
    description:
      `Hands a task to another agent, ${who}, and returns its answer. It works on its own and may ask the user ` +
      'itself. It sees nothing of this conversation, so put into the task whatever it has to know.',
    inputSchema: {
      type: 'object',
      properties: { task: { type: 'string', description: 'What to do or find out, complete in itself.' } },
      required: ['task'],
      additionalProperties: false,
    },
  };
}

export function isDelegateTool(toolName: string): boolean {
  return toolName.startsWith(delegatePrefix);
}

/** Null when the model did not keep to the schema. */
export function taskIn(input: unknown): string | null {
  const { task } = (input ?? {}) as { task?: unknown };
  return typeof task === 'string' && task.trim() !== '' ? task : null;
}
