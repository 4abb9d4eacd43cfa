/** What the request headers say about the caller. */
import { cannotAsk, parseCapabilities } from '../elicitation/capabilities.ts';
import type { Capabilities } from '../elicitation/capabilities.ts';

export interface Reader {
  /** Which questions this reader can put in front of a person. */
  capabilities: Capabilities;
  /** Wants to be told what the turn is doing. */
  operations: boolean;
}

export const plainReader: Reader = { capabilities: cannotAsk, operations: false };

interface ReaderHeaders {
  'x-supports-elicitation'?: string | undefined;
  'x-emit-operations'?: string | undefined;
}

export function readerFrom(headers: ReaderHeaders): Reader {
  return {
    capabilities: parseCapabilities(headers['x-supports-elicitation']),
    operations: headers['x-emit-operations']?.trim().toLowerCase() === 'true',
  };
}
