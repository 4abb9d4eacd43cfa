/** Why a server says nothing any more, where its connection knows. */
import type { Transport } from '@modelcontextprotocol/client';
import { ProcessFailure } from '../../remote/mcp/stdio/process.ts';
import { StdioTransport } from '../../remote/mcp/stdio/transport.ts';
import { responseLimitBytes, ResponseTooLarge } from '../../remote/response-body.ts';
import { clauses } from '../../testing/call/fault.ts';
import type { ToolCallReport } from '../../testing/call/call-events.ts';
import type { LongFetch } from './long-fetch.ts';

/** A `ProcessFailure`, or a `ResponseTooLarge`. */
export function whyGone(transport: Transport, { last }: Pick<LongFetch, 'last'>): Error | undefined {
  const failure = transport instanceof StdioTransport ? transport.exchanges.last()?.failure : last.failure;
  return failure instanceof ProcessFailure || failure instanceof ResponseTooLarge ? failure : undefined;
}

/** A call without an answer, with what is known of its reason. */
export function withReason(report: ToolCallReport, gone: Error | undefined): ToolCallReport {
  const { end } = report;
  if (!gone || end.kind !== 'fault' || end.fault.clause !== clauses.answered) return report;
  const message = `It gave no answer to the call: ${goneInWords(gone)}.`;
  return { ...report, end: { kind: 'fault', fault: { ...end.fault, message } } };
}

/** A part of a sentence. */
function goneInWords(gone: Error): string {
  if (gone instanceof ProcessFailure && gone.reason.kind === 'ended')
    return `it ended (${howEnded(gone.reason)})`;
  return `more than ${responseLimitBytes / 1024 / 1024} MB came of it, which is not read any further`;
}

export function howEnded({ exitCode, signal }: Extract<ProcessFailure['reason'], { kind: 'ended' }>): string {
  return signal ?? `exit code ${exitCode}`;
}
