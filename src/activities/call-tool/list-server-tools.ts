/** The `connect_<server>` tool: the account is there, so its tools can be listed for the next step. */
import type { AgentConfig } from '../../config/config.ts';
import type { Credential } from '../../credentials/store.ts';
import { serverRefused } from '../../telemetry/metrics/instruments.ts';
import { mayUse } from '../call-model/agent-tools.ts';
import { stopSignal } from '../stop-signal.ts';
import { afterRefusal, askForAccount, rejectCredential, stillRefused } from './account.ts';
import { failCall, finishCall, recordEffect } from './attempt.ts';
import type { Attempt, AttemptEnd, CallParts } from './attempt.ts';

export async function listServerTools(
  parts: CallParts,
  attempt: Attempt,
  resolved: Credential,
): Promise<AttemptEnd> {
  const { server, input } = attempt;
  let credential = resolved;
  recordEffect(parts, attempt);
  for (let isRenewed = false; ; isRenewed = true) {
    const listed = await parts.catalogue.learn(input.turn, server, credential, stopSignal());
    switch (listed.kind) {
      case 'tools': {
        const names = listed.tools.map(({ name }) => name);
        const text = toText(server, parts.config.agents.get(input.turn.agent), names);
        return finishCall(parts, attempt, { content: [{ type: 'text', text }] });
      }
      case 'refused': {
        const renewed = await rejectCredential(parts, attempt, credential, listed);
        const isAgain = renewed.kind === 'credential' && isRenewed;
        if (renewed.kind === 'unrelated' || (isAgain && listed.otherwise))
          return failCall(parts, attempt, 'unreachable', listed.otherwise?.message ?? '');
        serverRefused(server.name, listed.status, afterRefusal(renewed, { isRenewed }));
        if (renewed.kind === 'connection-required') return askForAccount(parts, attempt, renewed);
        if (isRenewed) return stillRefused(parts, attempt);
        credential = renewed;
        continue;
      }
      case 'unreachable':
        return failCall(parts, attempt, 'unreachable', listed.message);
      default:
        return listed satisfies never;
    }
  }
}

function toText(
  { name: server, title }: Attempt['server'],
  agent: AgentConfig | undefined,
  names: string[],
): string {
  const usable = names.filter((name) => mayUse(agent, server, name)).join(', ');
  return `${title} is connected. These tools are available now: ${usable || 'none'}.`;
}
