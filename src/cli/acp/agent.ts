/** The program as an agent, in the versions of the protocol that it is to speak. */
import { agentProtocolRouter } from '@agentclientprotocol/sdk/experimental/v2';
import type { AgentConnector } from '@agentclientprotocol/sdk';
import { createAgentV1 } from './agent-v1.ts';
import { createAgentV2 } from './agent-v2.ts';
import type { ConnectionParts } from './connection.ts';

/** For one connection. A draft may change at any time, so a client that asks for it gets it only where that was said here, too. */
export function createAgent(parts: ConnectionParts, { draft }: { draft: boolean }): AgentConnector {
  const stable = createAgentV1(parts);
  return draft ? agentProtocolRouter().withV1(stable).withV2(createAgentV2(parts)) : stable;
}
