/** What the request headers say about the caller. */
import { cannotAsk, parseCapabilities } from '../../elicitation/capabilities.ts';
import type { Capabilities } from '../../elicitation/capabilities.ts';

export interface Reader {
  /** Which questions this reader can put in front of a person. */
  capabilities: Capabilities;
  /** Wants to be told what the turn is doing. */
  operations: boolean;
  /** Can take back what a step has said so far. */
  resets: boolean;
  /** Knows the SDK's own requests for approval. */
  toolApprovals: boolean;
}

export const plainReader: Reader = {
  capabilities: cannotAsk,
  operations: false,
  resets: false,
  toolApprovals: false,
};

interface ReaderHeaders {
  'x-supports-elicitation'?: string | undefined;
  'x-emit-operations'?: string | undefined;
  'x-supports-reset-step'?: string | undefined;
  'x-supports-tool-approval'?: string | undefined;
}

export function readerFrom(headers: ReaderHeaders): Reader {
  return {
    capabilities: parseCapabilities(headers['x-supports-elicitation']),
    operations: isTrue(headers['x-emit-operations']),
    resets: isTrue(headers['x-supports-reset-step']),
    toolApprovals: isTrue(headers['x-supports-tool-approval']),
  };
}

function isTrue(header: string | undefined): boolean {
  return header?.trim().toLowerCase() === 'true';
}
