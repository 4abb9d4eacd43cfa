/** The `connect_<server>` tool: the account is there, so its tools can be listed for the next step. */
import type { Config } from '../../config/config.ts';
import type { Credential } from '../../credentials/store.ts';
import { mayUse } from '../call-model/agent-tools.ts';
import { ask, reject, stillRefused } from './attempt.ts';
import type { AttemptResult } from '../../turn/tool-call.ts';
import type { Attempt, CallParts } from './attempt.ts';
import { stopSignal } from '../stop-signal.ts';

export async function learnTools(
  parts: CallParts & { agents: Config['agents'] },
  attempt: Attempt,
  credential: Credential,
  isRenewed = false,
): Promise<AttemptResult> {
  const { server, finish, input } = attempt;
  const listed = await parts.catalogue.learn(input.turn, server, credential, stopSignal());
  switch (listed.kind) {
    case 'tools': {
      const agent = parts.agents.get(input.turn.agent);
      const names = listed.tools
        .map(({ name }) => name)
        .filter((name) => mayUse(agent, server.name, name))
        .join(', ');
      const text = `${server.title} is connected. These tools are available now: ${names || 'none'}.`;
      return finish({ content: [{ type: 'text', text }] });
    }
    case 'refused': {
      const next = await reject(parts, attempt, credential, listed);
      if (next.kind === 'connection-required') return ask(next, attempt);
      return isRenewed ? stillRefused(attempt) : learnTools(parts, attempt, next, true);
    }
    case 'unreachable':
      return finish(listed.message);
    default:
      return listed satisfies never;
  }
}
