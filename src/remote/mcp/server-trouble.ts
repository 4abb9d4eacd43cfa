/**
 * Why a server gave no answer. Only status numbers and error codes are read, so no secret can get into the sentences about
 * it.
 */
import type { ServerConfig } from '../../platform/config/config.ts';
import type { ServerTrouble } from '../../turn/server-trouble.ts';
import type { Deadline } from '../deadline.ts';
import { responseLimitBytes, ResponseTooLarge } from '@interlude-ai/core/mcp/response-body.ts';
import { networkFailure } from '../network-failure.ts';
import { nameOf } from '../server-name.ts';
import type { Exchange } from '@interlude-ai/core/mcp/tracked-request.ts';
import { ProcessFailure } from '@interlude-ai/core/mcp/stdio/process.ts';
import type { ServerProcess } from '@interlude-ai/core/mcp/stdio/process.ts';

export function troubleOf(
  config: ServerConfig,
  exchange: Exchange | undefined,
  end: Deadline['end'],
): ServerTrouble {
  const { process, timeout } = config;
  const server = nameOf(config);
  if (end === 'cancelled') return { code: 'cancelled', server };
  if (end === 'timeout') return { code: 'timeout', server, seconds: timeout / 1000 };
  if (exchange?.failure instanceof ResponseTooLarge)
    return { code: 'answer_too_large', server, megabytes: responseLimitBytes / 1024 / 1024 };
  if (process) return troubleOfProcess(process, server, exchange?.failure);
  const wasAnswering = exchange?.status === 200 && (exchange.isStream || exchange.failure !== undefined);
  if (wasAnswering) return { code: 'connection_ended', server };
  // The specification requires this status for an unknown session.
  if (exchange?.status === 404 && exchange.isInSession) return { code: 'session_lost', server };
  if (exchange?.status === 200 && exchange.isJson === true)
    return { code: 'unreadable_message', server, method: exchange.method };
  if (exchange?.status !== undefined) return troubleOfStatus(server, exchange.status);
  return networkFailure(server, exchange?.failure, 'url');
}

/** Only the program is named, because arguments may be passwords. */
function troubleOfProcess({ command, cwd }: ServerProcess, server: string, failure: unknown): ServerTrouble {
  if (!(failure instanceof ProcessFailure)) return { code: 'not_mcp_process', server };
  const { reason } = failure;
  switch (reason.kind) {
    case 'not-found':
      return { code: 'command_not_found', server, command };
    case 'not-executable':
      return { code: 'command_not_executable', server, command };
    case 'no-folder':
      return { code: 'no_folder', server, folder: String(cwd) };
    case 'not-permitted-user':
      return { code: 'user_not_permitted', server, uid: reason.uid };
    case 'not-started':
      return { code: 'not_started', server, error: reason.code };
    case 'ended': {
      const how = reason.signal === null ? `exit code ${reason.exitCode}` : reason.signal;
      return { code: 'process_ended', server, how };
    }
    default:
      return reason satisfies never;
  }
}

function troubleOfStatus(server: string, status: number): ServerTrouble {
  if (status < 300) return { code: 'not_mcp', server };
  if (status < 400) return { code: 'redirected', server, status };
  if (status === 404) return { code: 'no_endpoint', server };
  if (status === 429) return { code: 'busy', server };
  return { code: status < 500 ? 'request_refused' : 'failing', server, status };
}
