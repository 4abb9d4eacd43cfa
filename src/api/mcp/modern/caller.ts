/** Who calls, and what its client declares in each request of the 2026-07-28 revision. */
import { CLIENT_CAPABILITIES_META_KEY } from '@modelcontextprotocol/server';
import type { Capabilities } from '@interlude-ai/core/elicitation/elicitation.ts';
import type { Caller } from '../tools/tool.ts';

/** What the transport knows about a request. */
export interface Arrived extends Omit<Caller, 'shows'> {
  idempotencyKey: string | undefined;
  /** Aborts when the client disconnects, its token expires or the process is about to close. */
  signal: AbortSignal;
}

/** `elicitation: {}` means forms, because older revisions had nothing else. */
export function shownBy(envelope: Record<string, unknown> | undefined): Capabilities {
  const elicitation = declaredElicitation(membersOf(envelope?.[CLIENT_CAPABILITIES_META_KEY]));
  if (typeof elicitation !== 'object' || elicitation === null) return { url: false, form: false };
  const url = 'url' in elicitation;
  return { url, form: 'form' in elicitation || !url };
}

/** Moves an experimental declaration of elicitation to its place in the specification, the only one that the SDK reads. */
export function liftExperimental(body: unknown): unknown {
  const { params, ...rest } = membersOf(body);
  const { _meta, ...others } = membersOf(params);
  const envelope = membersOf(_meta);
  const declared = membersOf(envelope[CLIENT_CAPABILITIES_META_KEY]);
  const elicitation = declaredElicitation(declared);
  if (elicitation === undefined || 'elicitation' in declared) return body;
  const lifted = { ...envelope, [CLIENT_CAPABILITIES_META_KEY]: { ...declared, elicitation } };
  return { ...rest, params: { ...others, _meta: lifted } };
}

function declaredElicitation(declared: Record<string, unknown>): unknown {
  return declared['elicitation'] ?? membersOf(declared['experimental'])['elicitation'];
}

function membersOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
