/** Why a server could not be reached over the network, in words that a person can act on. Only error codes are read. */
import { errorCodeOf } from './error-code.ts';

/** `remedy`: what the operator should check. */
export function networkFailure(name: string, failure: unknown, remedy: string): string {
  const code = errorCodeOf(failure);
  switch (code) {
    case 'ECONNREFUSED':
      return `${name} cannot be reached: nothing is listening there. ${remedy}`;
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `${name} cannot be reached: its host name is not known. ${remedy}`;
    case 'ETIMEDOUT':
    case 'UND_ERR_CONNECT_TIMEOUT':
      return `${name} cannot be reached: it did not accept a connection in time. ${remedy}`;
    case 'ECONNRESET':
    case 'UND_ERR_SOCKET':
      return `${name} broke the connection off. Try again later.`;
    default:
      return /CERT|TLS|SSL|SELF_SIGNED|ALTNAME/.test(code)
        ? `${name} cannot be reached: its TLS certificate was not accepted (${code}). The operator should check it.`
        : `${name} cannot be reached${code && ` (${code})`}. ${remedy}`;
  }
}
