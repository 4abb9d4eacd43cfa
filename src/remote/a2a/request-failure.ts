/**
 * What a request that was answered with an error, or not at all, means for the call. As with MCP, the line between
 * "certainly nothing was done" and "unknown" is drawn here.
 */
import { A2AError, isJsonRpcError, isRestError, TaskNotFoundError } from '@a2a-js/sdk/errors';
import { plainLine } from '../../elicitation/plain-text.ts';
import { networkFailure } from '../network-failure.ts';
import { nameOf } from '../server-name.ts';
import { refusedAccount } from '../refused-account.ts';
import type { CallOutcome, Refused } from '../tool-call.ts';
import type { ConnectedAgent } from './connect.ts';

const checkCard = 'The operator should check that it runs and that its card in the agents file is right.';

export function isGone(error: unknown): boolean {
  return error instanceof TaskNotFoundError;
}

/** Of a message that was sent, or was to be. */
export function outcomeOfFailure(agent: ConnectedAgent, error: unknown): CallOutcome {
  const otherwise = fromTrace(agent, error);
  const refused = refusedAccount(agent.last(), agent.credential, otherwise);
  if (!refused) return otherwise;
  // The agent's own words are about the request.
  return refused.otherwise && refusalIn(error) !== null ? otherwise : refused;
}

/** What it means if it is not about the account. */
function fromTrace({ server, last }: ConnectedAgent, error: unknown): NonNullable<Refused['otherwise']> {
  const name = nameOf(server);
  const trace = last();
  const status = trace?.status;
  if (!trace?.isSent)
    return { kind: 'unreachable', message: networkFailure(name, trace?.failure, checkCard) };
  const refusal = refusalIn(error);
  if (refusal)
    return { kind: 'rejected', message: `${name} refused the request: ${JSON.stringify(refusal)}` };
  if (status !== undefined && status >= 300 && status < 500 && status !== 408)
    return {
      kind: 'unreachable',
      message: `${name} does not take messages at this address (HTTP ${status}). ${checkCard}`,
    };
  return {
    kind: 'unknown',
    message:
      status === undefined || status < 300
        ? `${name} ended the connection before it had answered.`
        : `${name} is in trouble (HTTP ${status}).`,
  };
}

/** In its own words; null where something may have been done. */
function refusalIn(error: unknown): string | null {
  for (let one = error; one instanceof Error; one = one.cause) {
    if (!(one instanceof A2AError)) continue;
    if (isJsonRpcError(one) && isOwnTrouble(one.envelopeCode)) return null;
    if (isRestError(one) && one.statusCode >= 500) return null;
    return plainLine(one.message).slice(0, 500);
  }
  return null;
}

/** JSON-RPC's "internal error", and codes that nobody has agreed on: something went wrong in the middle of it. */
function isOwnTrouble(code: number): boolean {
  return code === -32603 || code > -32000 || code < -32768 || (code < -32009 && code >= -32099);
}
