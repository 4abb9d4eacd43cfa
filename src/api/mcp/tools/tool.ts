/**
 * The tools that the service offers to MCP clients. A call starts or finds a turn, and `follow-call.ts` says what stage it is
 * in. This folder knows neither HTTP nor the protocol's eras: `legacy/` and `modern/` translate it.
 */
import { z } from 'zod';
import type { Capabilities } from '@interlude-ai/core/elicitation/elicitation.ts';
import type { OwnTurn } from '../../../service/own-turn.ts';
import type { Principal } from '../../../service/principal.ts';
import { presentMembers } from '@interlude-ai/core/elicitation/form/schema-keywords.ts';

/** The tool with which a model sends its user's answer to a question: see `fallback.ts`. */
export const fallbackTool = 'sendElicitationResult';

export const answerTool = 'answer_question';

/** Who calls, and through what kind of client. */
export interface Caller {
  principal: Principal;
  /** The questions that the client can show its user. Others are put as text, through its model. */
  shows: Capabilities;
  /** Offer only this agent. */
  agent?: string | undefined;
  /** IP address, for the audit. */
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

interface JsonSchema {
  type: 'object';
  [keyword: string]: unknown;
}

export interface ToolCall {
  name: string;
  arguments: Record<string, unknown>;
  /** How many agents have already passed this task on. */
  hops: number;
  /** `traceparent` of its `_meta`, unchecked. */
  traceParent?: unknown;
  /** From the client, to repeat the call safely. */
  idempotencyKey?: string | undefined;
}

export type Started =
  | { kind: 'result'; result: ToolResult }
  /** `answered`: open questions that are already answered, and are not asked again. */
  | { kind: 'turn'; turn: OwnTurn; answered?: string[] };

export interface ToolResult {
  content: { type: 'text'; text: string }[];
  structuredContent?: Record<string, unknown>;
  isError?: boolean;
  _meta?: Record<string, unknown>;
}

export interface Tool {
  description: ToolDescription;
  /** Throws `ServiceError` or `InvalidArguments` for mistakes of the caller. */
  start(caller: Caller, call: ToolCall): Promise<Started>;
}

export function textResult(text: string): ToolResult {
  return { content: [{ type: 'text', text }] };
}

/** `text` is for the client's model. */
export function errorResult(text: string): ToolResult {
  return { ...textResult(text), isError: true };
}

/** The message says what is wrong, for the model that wrote the arguments. */
export class InvalidArguments extends Error {
  override name = 'InvalidArguments';
}

export function readArguments<T extends z.ZodObject>(schema: T, given: Record<string, unknown>): z.output<T> {
  const parsed = schema.safeParse(presentMembers(given));
  if (parsed.success) return parsed.data;
  const misfits = parsed.error.issues.map(
    ({ path, message }) => `${path.join('.') || 'arguments'}: ${message}`,
  );
  throw new InvalidArguments(`The arguments are not valid. ${misfits.join('; ')}.`);
}

export function toJsonSchema(schema: z.ZodObject): JsonSchema {
  const { $schema: _, ...written } = z.toJSONSchema(schema, { io: 'input' });
  return { ...written, type: 'object' };
}
