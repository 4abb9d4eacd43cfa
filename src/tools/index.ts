/** The door of `interlude/tools`: what is not named here may change. It needs zod for its types, and nothing of the service. */
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
export { OutcomeUnknown } from './outcome-unknown.ts';
export { signCompletion } from './sign-completion.ts';
export type { Completion } from './sign-completion.ts';
export type { ExecuteContext, Log, ToolContext, ToolProgress } from './tool-context.ts';
