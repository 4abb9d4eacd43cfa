/** How an author defines a tool. It is checked when its folder is bundled, so that all mistakes are reported together. */
import type { z } from 'zod';
import type { ActivityFunctions, DeclaredActivities } from './activities.ts';
import type { Duration } from './read-duration.ts';
import type { ExecuteContext, ToolContext } from './tool-context.ts';

/** MCP's hints about what a tool does. Clients see them, and approvals go by them. */
export interface ToolAnnotations {
  title?: string;
  readOnlyHint?: boolean;
  destructiveHint?: boolean;
  idempotentHint?: boolean;
  openWorldHint?: boolean;
}

type Json = string | number | boolean | null | { readonly [key: string]: Json | undefined } | readonly Json[];

/** Without `output`: a text, a JSON value, or nothing ("Done."). With it: what it describes. */
export type ToolResult<Output> = [Output] extends [z.ZodType] ? z.input<Output> : Json | object | void;

interface ToolBasics<Input extends z.ZodObject, Output extends z.ZodType | undefined> {
  /** What the model calls it: a-z, 0-9 and single underscores, at most 64. */
  name: string;
  /** What people are shown. Default: the name in words. */
  title?: string;
  /** What it does and when to use it, for the model. */
  description: string;
  input: Input;
  output?: Output;
  annotations?: ToolAnnotations;
  /**
   * MCP clients of the service may call it themselves, with no model between. Such a call is made for the agent that has the
   * tool, and by its rules: the caller is the user, and is asked what `run` asks.
   */
  expose?: boolean;
}

/** A tool that asks nothing. */
export interface ExecuteDefinition<
  Input extends z.ZodObject,
  Output extends z.ZodType | undefined,
> extends ToolBasics<Input, Output> {
  /**
   * A function for Node. Each call runs it at most once: when its worker dies on the way, the model reads that the outcome is
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

/** A tool that asks, or that has several effects, each of which happens once. */
export interface RunDefinition<
  Input extends z.ZodObject,
  Output extends z.ZodType | undefined,
  Module,
> extends ToolBasics<Input, Output> {
  activities?: DeclaredActivities<Module>;
  /**
   * Workflow code: it may wait for a long time, so it runs again from its history on any machine. Everything that reaches
   * outside (files, network, the environment, random numbers that matter) belongs into `activities.ts`.
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

/** What `defineTool` returns, to be exported; only the service looks into it. */
export interface DefinedTool {
  readonly [definedTool]: true;
}

/** Found on a value that `defineTool` made, whichever copy of this module made it. */
export const toolMark = Symbol.for('interlude.tool');

export function defineTool<
  Input extends z.ZodObject,
  Output extends z.ZodType | undefined = undefined,
  Module = ActivityFunctions,
>(definition: ToolDefinition<Input, Output, Module>): DefinedTool {
  return { ...definition, [toolMark]: true } as unknown as DefinedTool;
}
