/** A store that cannot answer. Its message is safe to show: who, what happened, what to do; never what a peer wrote. */
import type { ServerConfig } from '../config/config.ts';

interface More {
  retryAfterMs?: number | undefined;
  detail?: string | undefined;
  isOperators?: boolean;
}

/** The store itself cannot answer (network, outage, wrong key): nobody should be asked to connect because of it. */
export class CredentialStoreError extends Error {
  override name = 'CredentialStoreError';
  /** When it may be better; absent when waiting does not help. */
  readonly retryAfterMs: number | undefined;
  /** What operators should know beside the message; shown to nobody else. */
  detail: string | undefined;
  /** It stays like this until the operator has changed something. */
  readonly isOperators: boolean;
  constructor(message: string, { retryAfterMs, detail, isOperators = false }: More = {}) {
    super(message);
    this.retryAfterMs = retryAfterMs;
    this.detail = detail;
    this.isOperators = isOperators;
  }
  get forOperator(): string {
    return this.detail === undefined ? this.message : `${this.message} (${this.detail})`;
  }
}

/** The server an error is about. */
export type ErrorSubject = Pick<ServerConfig, 'title' | 'url' | 'local'>;

/** Deliberately without `cause`: a peer's error text may quote a token. `detail` is for operators only. */
export function storeError(server: ErrorSubject, what: string, detail?: string): CredentialStoreError {
  return new CredentialStoreError(messageOf(server, what), { detail });
}

/** Like `storeError`, of what only the operator of this service can correct. */
export function operatorError(server: ErrorSubject, what: string, detail: string): CredentialStoreError {
  return new CredentialStoreError(messageOf(server, what), { detail, isOperators: true });
}

function messageOf({ title, url }: ErrorSubject, what: string): string {
  return `${title} (${new URL(url).host}): ${what}.`;
}
