/** What is known of the requests of one MCP operation, however they travel. */

/** One request that carried a JSON-RPC message. */
export interface Exchange {
  method: string;
  id: unknown;
  /** The request began to leave this machine. */
  isSent: boolean;
  status?: number;
  /** The answer comes as a stream, so it may still come after the response has begun. */
  isStream: boolean;
  /** `WWW-Authenticate` of the answer. */
  challenge: string | null;
  /** Why there is no answer. */
  failure?: unknown;
  /** The answer was read to its end. */
  isRead?: boolean;
}

export interface ExchangeLog {
  last(method?: string): Exchange | undefined;
  /** Resolves when the standing stream is open or refused, if it was asked for at all. */
  listening(): Promise<void>;
  /** Resolves when the notifications sent so far were delivered or failed. */
  settled(): Promise<void>;
}
