/** A store that cannot answer. Its message is safe to show: who, what happened, what to do; never what a peer wrote. */
import type { ServerConfig } from '../config/config.ts';

/** The store itself cannot answer (network, outage, wrong key): nobody should be asked to connect because of it. */
export class CredentialStoreError extends Error {
  override name = 'CredentialStoreError';
  /** When it may be better; absent when waiting does not help. */
  readonly retryAfterMs: number | undefined;
  /** What operators should know beside the message; shown to nobody else. */
  detail: string | undefined;
  constructor(
    message: string,
    { retryAfterMs, detail }: { retryAfterMs?: number; detail?: string | undefined } = {},
  ) {
    super(message);
    this.retryAfterMs = retryAfterMs;
    this.detail = detail;
  }
  get forOperator(): string {
    return this.detail === undefined ? this.message : `${this.message} (${this.detail})`;
  }
}

/** The server an error is about. */
export type ErrorSubject = Pick<ServerConfig, 'title' | 'url' | 'local'>;

/** Deliberately without `cause`: a peer's error text may quote a token. `detail` is for operators only. */
export function storeError(server: ErrorSubject, what: string, detail?: string): CredentialStoreError {
  return new CredentialStoreError(`${server.title} (${new URL(server.url).host}): ${what}.`, { detail });
}
