/**
 * An author's tool as the runtime sees it, and the result of a call from what the tool returns or throws. `@interlude-ai/tools`
 * makes such values; workflows and activities depend neither on it nor on zod. Pure.
 */
import type { AskResult, TooManyOpen } from './ask.ts';
import type { ToolResult } from './tool-result.ts';

interface AnyTool {
  name: string;
  /** Default: made from the name. */
  title?: string | undefined;
  input: ValueSchema;
  output?: ValueSchema | undefined;
}

/** A tool that may ask: its `run` is workflow code. */
export interface ToolCode extends AnyTool {
  activities?: ActivityOptions | undefined;
  run(input: unknown, context: ToolRunContext): unknown;
}

/** A tool that asks nothing: its `execute` is a function for Node. */
export interface PlainTool extends AnyTool {
  title: string;
  timeoutMs: number;
  /** A call may be repeated when it is unknown whether it has run. */
  idempotent?: boolean | undefined;
  execute(input: unknown, context: ExecuteContext): unknown;
}

/** A zod schema. */
export interface ValueSchema {
  safeParse(value: unknown): { success: true; data: unknown } | { success: false; error: SchemaError };
}

interface SchemaError {
  issues: readonly { path: readonly PropertyKey[]; message: string }[];
}

export interface ActivityOptions {
  /** Time limit of one call of an activity. */
  timeoutMs?: number | undefined;
  /** Activities that may be called again when it is unknown whether they have run. */
  idempotent?: readonly string[] | undefined;
}

interface CallContext {
  /** Null in a turn that runs for a service. */
  user: string | null;
  tenant: string;
  toolCallId: string;
  log: Record<LogLevel, (message: string, details?: Record<string, unknown>) => void>;
  progress(progress: number | ToolProgress): void;
}

/** The second argument of `run`. */
export interface ToolRunContext extends CallContext {
  elicit(message: string, schema: ValueSchema | null, options?: ElicitOptions): Promise<ElicitResult>;
  activities: Record<string, (...args: unknown[]) => Promise<unknown>>;
}

/** The second argument of `execute`. */
export interface ExecuteContext extends CallContext {
  signal: AbortSignal;
}

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

export interface ToolProgress {
  progress: number;
  total?: number;
  message?: string;
}

/** Reads what an author's code reports, which may be anything; null if it is no progress. */
export function readProgress(given: unknown): ToolProgress | null {
  const { progress, total, message } =
    typeof given === 'number'
      ? { progress: given, total: undefined, message: undefined }
      : { ...(given as Partial<Record<keyof ToolProgress, unknown>> | null) };
  if (!isFiniteNumber(progress)) return null;
  return {
    progress,
    ...(isFiniteNumber(total) && { total }),
    ...(typeof message === 'string' && { message }),
  };
}

function isFiniteNumber(value: unknown): value is number {
  return Number.isFinite(value);
}

export interface ElicitOptions {
  mode?: 'form' | 'url';
  /** In milliseconds; at most what the operator allows. */
  ttl?: number;
  elicitationId?: string;
  url?: string | ((elicitationId: string) => string);
  whenUnsupported?: 'fail' | 'defaults';
}

export type ElicitResult =
  | { status: 'accept'; content: unknown }
  | { status: Exclude<AskResult, 'accept' | TooManyOpen> };

/** Makes a form of a schema; `problem` says which field cannot be shown, and why. */
export type ReadSchema = (
  schema: ValueSchema,
) => { kind: 'flat'; requestedSchema: Record<string, unknown> } | { kind: 'problem'; problem: string };

/** Why a value does not match, with the names of the fields. */
export function issuesOf({ issues }: SchemaError): string {
  return issues
    .map(({ path, message }) => (path.length === 0 ? message : `${path.map(String).join('.')}: ${message}`))
    .join('; ');
}

/** Limit of one value, in characters of JSON. Temporal refuses payloads of 2 MiB, and sealing makes them longer. */
const longestJson = 400_000;

export function resultOf(
  { title, output }: Pick<ToolCode, 'output'> & { title: string },
  value: unknown,
): ToolResult {
  const failed = (why: string): ToolResult => ({ kind: 'error', text: `${title} failed: ${why}` });
  if (value === undefined) return text('Done.');
  if (typeof value === 'string' && !output)
    return value.length > longestJson ? failed('its result is too large to be passed on.') : text(value);
  const json = toJson(value);
  if (json.kind === 'problem') return failed(`its result ${json.problem}.`);
  const read = output?.safeParse(value);
  if (read?.success === false)
    return failed(`its result does not match its output schema: ${issuesOf(read.error)}.`);
  const kept = toJson(read ? read.data : value);
  if (kept.kind === 'problem') return failed(`its result ${kept.problem}.`);
  const isObject = typeof kept.value === 'object' && kept.value !== null && !Array.isArray(kept.value);
  return {
    kind: 'output',
    output: {
      content: [{ type: 'text', text: kept.text }],
      // MCP's structured content is an object.
      ...(isObject && { structuredContent: kept.value }),
    },
  };
}

/** The result of a call with arguments that the tool's schema refuses. */
export function misfitOf(title: string, error: SchemaError): ToolResult {
  const text = `${title} did not run, because what it was called with does not match its input schema: ${issuesOf(error)}. Call it again with arguments that do.`;
  return { kind: 'error', text };
}

export function failureOf(title: string, error: unknown): ToolResult {
  const words = thrownText(error);
  const why = words.length > 4_000 ? `${words.slice(0, 4_000)} …` : words;
  return { kind: 'error', text: `${title} failed: ${why}` };
}

/** Code can throw anything, even a value that cannot be converted to a string. */
export function thrownText(thrown: unknown): string {
  try {
    return String(thrown instanceof Error && thrown.message !== '' ? thrown.message : thrown);
  } catch {
    return 'what it threw cannot be put in words';
  }
}

/** The value as JSON stores it: dates become strings, and undefined members are left out. */
export function toJson(
  value: unknown,
): { kind: 'json'; text: string; value: unknown } | { kind: 'problem'; problem: string } {
  try {
    const text = JSON.stringify(value) as string | undefined;
    if (text === undefined) return { kind: 'problem', problem: `is a ${typeof value}, which is no JSON` };
    if (text.length > longestJson)
      return { kind: 'problem', problem: `is too large (more than ${longestJson / 1000} kB of JSON)` };
    return { kind: 'json', text, value: JSON.parse(text) as unknown };
  } catch (error) {
    return { kind: 'problem', problem: `is no JSON (${error instanceof Error ? error.message : 'unknown'})` };
  }
}

function text(words: string): ToolResult {
  return { kind: 'output', output: { content: [{ type: 'text', text: words }] } };
}
