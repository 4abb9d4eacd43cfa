/** How an author defines a tool. Mistakes are reported together when the folder is bundled. */
import type { z } from 'zod';
import type { ActivitiesOf, ActivityFunctions, DeclaredActivities } from './activities.ts';
import type { Elicit } from './elicit.ts';
import type { Duration } from '@interlude-ai/core/read-duration.ts';

/** MCP's hints about what a tool does. Clients see them, and approvals depend on them. */
export interface ToolAnnotations {
  title?: string;
  readOnlyHint?: boolean;
  destructiveHint?: boolean;
  idempotentHint?: boolean;
  openWorldHint?: boolean;
}

type Json = string | number | boolean | null | { readonly [key: string]: Json | undefined } | readonly Json[];

/** Without `output`: a text, a JSON value, or nothing ("Done."). With `output`: a value that matches it. */
export type ToolResult<Output> = [Output] extends [z.ZodType] ? z.input<Output> : Json | object | void;

interface ToolBasics<Input extends z.ZodObject, Output extends z.ZodType | undefined> {
  /** The name for the model: a-z, 0-9 and single underscores, at most 64. */
  name: string;
  /** The name for people. Default: made from `name`. */
  title?: string;
  /** What it does and when to use it, for the model. */
  description: string;
  input: Input;
  output?: Output;
  annotations?: ToolAnnotations;
  /**
   * MCP clients of the service may call the tool directly, without a model. Such a call belongs to the agent that has the
   * tool and follows its rules: the caller is the user, and gets the questions of `run`.
   */
  expose?: boolean;
}

/** A tool that asks nothing. */
export interface ExecuteDefinition<
  Input extends z.ZodObject,
  Output extends z.ZodType | undefined,
> extends ToolBasics<Input, Output> {
  /**
   * A function for Node. Each call runs it at most once: if its worker dies meanwhile, the model reads that the outcome is
   * unknown.
   */
  execute(input: z.output<Input>, context: ExecuteContext): ToolResult<Output> | Promise<ToolResult<Output>>;
  /** How long one call may take, for example `'90s'` or a number of milliseconds. Default: `'60s'`. */
  timeout?: Duration;
  /** A call may be repeated when it is unknown whether it has run. */
  idempotent?: boolean;
  run?: never;
  activities?: never;
}

/** A tool that asks, or that has several effects which must each happen once. */
export interface RunDefinition<
  Input extends z.ZodObject,
  Output extends z.ZodType | undefined,
  Module,
> extends ToolBasics<Input, Output> {
  activities?: DeclaredActivities<Module>;
  /**
   * Workflow code: it may wait for a long time, so it is replayed from its history on any machine. Everything that reaches
   * outside (files, network, the environment, random numbers that matter) belongs in `activities.ts`.
   */
  run(input: z.output<Input>, context: ToolContext<Module>): ToolResult<Output> | Promise<ToolResult<Output>>;
  execute?: never;
  timeout?: never;
  idempotent?: never;
}

export type ToolDefinition<Input extends z.ZodObject, Output extends z.ZodType | undefined, Module> =
  | ExecuteDefinition<Input, Output>
  | RunDefinition<Input, Output, Module>;

declare const definedTool: unique symbol;

/** What `defineTool` returns, to be exported. Its contents are private to the service. */
export interface DefinedTool {
  readonly [definedTool]: true;
}

/** Marks a value that `defineTool` made, in any copy of this module. */
export const toolMark = Symbol.for('interlude.tool');

export function defineTool<
  Input extends z.ZodObject,
  Output extends z.ZodType | undefined = undefined,
  Module = ActivityFunctions,
>(definition: ToolDefinition<Input, Output, Module>): DefinedTool {
  return { ...definition, [toolMark]: true } as unknown as DefinedTool;
}

interface CallContext {
  /** Null if the caller is a service, which cannot be asked. */
  user: string | null;
  tenant: string;
  toolCallId: string;
  /** Writes to the worker's log, with the tool's name and the call's id. */
  log: Log;
  /** Reports progress on the stream. */
  progress(progress: number | ToolProgress): void;
}

/** The second argument of `run`. */
export interface ToolContext<Module> extends CallContext {
  /** Asks the user, and waits: for minutes, and through restarts of the service. */
  elicit: Elicit;
  /** The functions of `activities.ts`, each of which has its effect once. */
  activities: ActivitiesOf<Module>;
}

/** The second argument of `execute`. */
export interface ExecuteContext extends CallContext {
  /** Aborts when the turn is cancelled, the time is up, or the worker shuts down. Two seconds later the call is given up. */
  signal: AbortSignal;
}

type Say = (message: string, details?: Record<string, unknown>) => void;

export interface Log {
  debug: Say;
  info: Say;
  warn: Say;
  error: Say;
}

export interface ToolProgress {
  progress: number;
  total?: number;
  message?: string;
}
