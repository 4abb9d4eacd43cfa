/** Why a server could not be reached. Only error codes are read, so no secret can get into the text. */
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

/** The system's code of an error (`ECONNREFUSED`) or of its causes; empty without one. */
export function errorCodeOf(failure: unknown): string {
  for (let error = failure; error instanceof Error; error = error.cause) {
    if ('code' in error && typeof error.code === 'string') return error.code;
  }
  return '';
}
