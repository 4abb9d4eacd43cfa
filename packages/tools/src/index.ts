/** The public API of `@interlude-ai/tools`. It needs zod for its types, and nothing of the service. */
export { activities } from './activities.ts';
export type { ActivitiesOf, ActivityFunctions, ActivityOptions, DeclaredActivities } from './activities.ts';
export { defineTool } from './define-tool.ts';
export type {
  DefinedTool,
  ExecuteDefinition,
  RunDefinition,
  ToolAnnotations,
  ToolDefinition,
  ToolResult,
} from './define-tool.ts';
export type {
  Elicit,
  ElicitFormOptions,
  ElicitResult,
  ElicitStatus,
  ElicitUrlOptions,
  FlatSchema,
} from './elicit.ts';
export { OutcomeUnknown } from './activities.ts';
export { signCompletion } from './elicit.ts';
export type { Completion } from './elicit.ts';
export type { ExecuteContext, Log, ToolContext, ToolProgress } from './define-tool.ts';
