/** The agent to talk to, as something to be chosen in the editor. It can be chosen until the conversation begins. Pure. */
import type { SessionConfigOption, SessionModeState } from '@agentclientprotocol/sdk';

export const agentOption = 'agent';

export interface Choosing {
  /** All there are, the service's first one first. */
  agents: readonly string[];
  session: { agent: string | undefined; hasBegun: boolean };
}

export function configOptions({ agents, session }: Choosing): SessionConfigOption[] {
  const current = currentOf({ agents, session });
  return [
    {
      id: agentOption,
      name: 'Agent',
      description: session.hasBegun
        ? 'Whom this conversation is with. Another one needs a new session.'
        : 'Whom to talk to.',
      category: 'mode',
      type: 'select',
      currentValue: current,
      options: offered({ agents, session }).map((name) => ({ value: name, name: titleOf(name) })),
    },
  ];
}

/** The same for clients that do not know options yet. */
export function modes({ agents, session }: Choosing): SessionModeState {
  return {
    currentModeId: currentOf({ agents, session }),
    availableModes: offered({ agents, session }).map((name) => ({ id: name, name: titleOf(name) })),
  };
}

function currentOf({ agents, session }: Choosing): string {
  return session.agent ?? agents[0] ?? '';
}

function offered({ agents, session }: Choosing): readonly string[] {
  return session.hasBegun ? [currentOf({ agents, session })] : agents;
}

function titleOf(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1).replaceAll(/[-_]+/g, ' ');
}
