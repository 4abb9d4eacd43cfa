/**
 * Why a server gave no answer, and what to do about it. Only status numbers and error codes are read, so no secret can get
 * into these messages.
 */
import type { ServerConfig } from '../../config/config.ts';
import type { ServerProcess } from '../../config/agents-file/server-config.ts';
import type { Deadline } from '../deadline.ts';
import { responseLimitBytes, ResponseTooLarge } from '../response-body.ts';
import { networkFailure } from '../network-failure.ts';
import { nameOf } from '../server-name.ts';
import type { Exchange } from '../tracked-request.ts';
import { ProcessFailure } from './stdio/process.ts';

const checkAddress = 'The operator should check that it runs and that its url in the agents file is right.';

export function failureMessage(
  server: ServerConfig,
  exchange: Exchange | undefined,
  end: Deadline['end'],
): string {
  const name = nameOf(server);
  if (end === 'cancelled') return `The call to ${name} was cancelled.`;
  if (end === 'timeout') return `${name} did not answer within ${server.timeout / 1000} s.`;
  if (exchange?.failure instanceof ResponseTooLarge) {
    return `${name} sent an answer larger than ${responseLimitBytes / 1024 / 1024} MB, which is not read any further.`;
  }
  if (server.process) return describeProcess(server.process, name, exchange?.failure);
  const wasAnswering = exchange?.status === 200 && (exchange.isStream || exchange.failure !== undefined);
  if (wasAnswering) return `${name} ended the connection before it had answered.`;
  if (exchange?.status === 404 && exchange.isInSession) return `${name} ${sessionLost}`;
  if (exchange?.status === 200 && exchange.isJson === true)
    return `${name} answered ${exchange.method} with a message that cannot be read. Its author should compare it with the specification of MCP.`;
  if (exchange?.status !== undefined) return describeStatus(name, exchange.status);
  return networkFailure(name, exchange?.failure, checkAddress);
}

/** The 404 that the specification requires for an unknown session. */
const sessionLost =
  'lost the session that the request belonged to (HTTP 404), as after a restart. Try again. If this happens often, the operator should check that all processes of the server share their sessions.';

const checkCommand = 'The operator should check its command in the agents file.';

/** Only the program is named, because arguments may be passwords. */
function describeProcess({ command, cwd }: ServerProcess, name: string, failure: unknown): string {
  if (!(failure instanceof ProcessFailure))
    return `${name} did not answer like an MCP server. ${checkCommand}`;
  const { reason } = failure;
  switch (reason.kind) {
    case 'not-found':
      return `${name} cannot be started: command not found: ${command}. The operator should install it, or correct the command in the agents file.`;
    case 'not-executable':
      return `${name} cannot be started: ${command} may not be executed. ${checkCommand}`;
    case 'no-folder':
      return `${name} cannot be started: there is no folder ${cwd}. The operator should correct its cwd in the agents file.`;
    case 'not-permitted-user':
      return `${name} cannot be started: the worker may not start programs as user ${reason.uid}. The operator should run the worker as root, or remove uid and gid from the agents file.`;
    case 'not-started':
      return `${name} cannot be started (${reason.code}). ${checkCommand}`;
    case 'ended': {
      const how = reason.signal === null ? `exit code ${reason.exitCode}` : reason.signal;
      return `${name} ended before it had answered (${how}). The operator can read what it had to say in the worker's log.`;
    }
    default:
      return reason satisfies never;
  }
}

function describeStatus(name: string, status: number): string {
  if (status < 300) return `${name} did not answer like an MCP server. ${checkAddress}`;
  if (status < 400)
    return `${name} sent a redirect (HTTP ${status}) that is not followed. The agents file should name the final url.`;
  if (status === 404) return `${name} has no MCP endpoint at this address (HTTP 404). ${checkAddress}`;
  if (status === 429) return `${name} is receiving too many requests (HTTP 429). Try again later.`;
  if (status < 500) return `${name} refused the request (HTTP ${status}). ${checkAddress}`;
  return `${name} is in trouble (HTTP ${status}). Try again later.`;
}
