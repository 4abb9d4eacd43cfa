/** What is known of the requests of one MCP operation, however they travel. */
import type { RequestTrace } from '../tracked-request.ts';

/** One request that carried a JSON-RPC message. */
export interface Exchange extends RequestTrace {
  method: string;
  id: unknown;
  /** It named a session that the server had opened before. */
  isInSession?: boolean;
}

export interface ExchangeLog {
  last(method?: string): Exchange | undefined;
  /** Resolves when the standing stream is open or refused, if it was asked for at all. */
  listening(): Promise<void>;
  /** Resolves when the notifications sent so far were delivered or failed. */
  settled(): Promise<void>;
}
