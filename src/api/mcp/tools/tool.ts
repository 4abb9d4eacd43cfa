/**
 * The tools that the service offers to MCP clients, in no protocol's terms: a call starts a turn or finds one, and
 * `follow-call.ts` tells how it stands. Whatever speaks to clients (either era of the protocol, stdio) is a translation
 * of this folder, which knows neither the protocol nor HTTP.
 */
import type { Capabilities } from '../../../elicitation/capabilities.ts';
import type { OwnTurn } from '../../../service/own-turn.ts';
import type { Principal } from '../../../service/principal.ts';

/** Who calls, and through what kind of client. */
export interface Caller {
  principal: Principal;
  /** The questions that the client itself can put in front of its user. Others travel in words, through its model. */
  shows: Capabilities;
  /** The one agent that it wants to be offered. */
  agent?: string | undefined;
  /** Where from, for the audit. */
  address: string | null;
}

export interface ToolDescription {
  name: string;
  title: string;
  description: string;
  inputSchema: JsonSchema;
  outputSchema?: JsonSchema;
  annotations: {
    readOnlyHint?: boolean;
    destructiveHint?: boolean;
    idempotentHint?: boolean;
    openWorldHint?: boolean;
  };
}

export interface JsonSchema {
  type: 'object';
  [keyword: string]: unknown;
}

export interface ToolCall {
  name: string;
  arguments: Record<string, unknown>;
  /** How often what it asks for was handed on before. */
  hops: number;
  /** `traceparent` in its `_meta`, as it came. */
  traceParent?: unknown;
  /** The name that the client gave this call, to send it again safely. */
  idempotencyKey?: string | undefined;
}

/** What a call has come to once its arguments are understood. */
export type Started =
  | { kind: 'result'; result: ToolResult }
  /** `answered`: questions that are open although they were answered, and not asked again. */
  | { kind: 'turn'; turn: OwnTurn; answered?: string[] };

export interface ToolResult {
  content: { type: 'text'; text: string }[];
  structuredContent?: Record<string, unknown>;
  isError?: boolean;
  _meta?: Record<string, unknown>;
}

export interface Tool {
  description: ToolDescription;
  /** A `ServiceError` or an `InvalidArguments` is for the caller to act on. */
  start(caller: Caller, call: ToolCall): Promise<Started>;
}

export function textResult(text: string): ToolResult {
  return { content: [{ type: 'text', text }] };
}

/** Words that the model behind the client acts on. */
export function errorResult(text: string): ToolResult {
  return { ...textResult(text), isError: true };
}
