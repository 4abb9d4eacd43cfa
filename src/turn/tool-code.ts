/**
 * What the runtime knows of an author's tool. `interlude/tools` makes such values; this is all that running them takes,
 * so that workflows and activities depend neither on it nor on zod.
 */
import type { AskResult, TooManyOpen } from './ask.ts';

interface AnyTool {
  name: string;
  /** Default: the name in words. */
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

export interface SchemaError {
  issues: readonly { path: readonly PropertyKey[]; message: string }[];
}

export interface ActivityOptions {
  /** How long one call of an activity may take. */
  timeoutMs?: number | undefined;
  /** May be called again when it is unknown whether they have run. */
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

/** What `run` is given beside its input. */
export interface ToolRunContext extends CallContext {
  elicit(message: string, schema: ValueSchema | null, options?: ElicitOptions): Promise<ElicitResult>;
  activities: Record<string, (...args: unknown[]) => Promise<unknown>>;
}

/** What `execute` is given beside its input. */
export interface ExecuteContext extends CallContext {
  signal: AbortSignal;
}

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

export interface ToolProgress {
  progress: number;
  total?: number;
  message?: string;
}

/** As an author's code reports it, which may be anything; null where it says nothing. */
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

/** What a form shows of a schema; `problem` says which field cannot be shown, and why. */
export type ReadSchema = (
  schema: ValueSchema,
) => { kind: 'flat'; requestedSchema: Record<string, unknown> } | { kind: 'problem'; problem: string };

/** The reasons why a value does not fit, with the names of the fields. */
export function issuesOf({ issues }: SchemaError): string {
  return issues
    .map(({ path, message }) => (path.length === 0 ? message : `${path.map(String).join('.')}: ${message}`))
    .join('; ');
}
