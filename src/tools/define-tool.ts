/** How an author says what a tool is. It is checked when its folder is bundled, so that all mistakes are told together. */
import type { z } from 'zod';
import type { ActivityFunctions, DeclaredActivities } from './activities.ts';
import type { ToolContext } from './tool-context.ts';

/** MCP's hints about what a tool does. They are told to clients, and approvals go by them. */
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

export interface ToolDefinition<Input extends z.ZodObject, Output extends z.ZodType | undefined, Module> {
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
   * tool, and by its rules: who calls is the user, and is asked what `run` asks.
   */
  expose?: boolean;
  activities?: DeclaredActivities<Module>;
  /**
   * Workflow code: it may wait for a long time, so it runs again from its history on any machine. Whatever reaches outside
   * (files, network, the environment, random numbers that matter) belongs into `activities.ts`.
   */
  run(input: z.output<Input>, context: ToolContext<Module>): ToolResult<Output> | Promise<ToolResult<Output>>;
}

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
