/** Why a server could not be reached. Only error codes are read, so no secret can get into the text. */
import { errorCodeOf } from '@interlude-ai/core/mcp/tracked-request.ts';
import { troubleInWords } from '../turn/for-model.ts';
import type { ServerTrouble } from '../turn/server-trouble.ts';

/** `remedy`: what an operator should check. */
export function networkFailure(server: string, failure: unknown, remedy: 'url' | 'card'): ServerTrouble {
  const error = errorCodeOf(failure);
  switch (error) {
    case 'ECONNREFUSED':
      return { code: 'not_listening', server, remedy };
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return { code: 'unknown_host', server, remedy };
    case 'ETIMEDOUT':
    case 'UND_ERR_CONNECT_TIMEOUT':
      return { code: 'connect_timeout', server, remedy };
    case 'ECONNRESET':
    case 'UND_ERR_SOCKET':
      return { code: 'connection_broken', server };
    default:
      return /CERT|TLS|SSL|SELF_SIGNED|ALTNAME/.test(error)
        ? { code: 'certificate', server, error }
        : { code: 'not_reached', server, error, remedy };
  }
}

/** An outcome of a request. `message`: its trouble as text, for logs. */
export function outcomeWith<Kind extends string>(kind: Kind, trouble: ServerTrouble) {
  return { kind, trouble, message: troubleInWords(trouble) };
}
