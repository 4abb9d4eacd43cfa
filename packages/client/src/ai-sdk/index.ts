/** The public interface of `@interlude-ai/client/ai-sdk`. Names that are not listed here may change. */
export { createInterlude } from './provider.ts';
export type { InterludeOptions, InterludeProvider } from './provider.ts';
export type { InterludeCallOptions } from './call.ts';
export type { AgentModelV2, AgentModelV3 } from './versions.ts';
export type { Decision, ElicitationContext, OnElicitation } from '../answer-questions.ts';
export type { Timing } from '../retry.ts';
export type { Token } from '../send.ts';
export type { ElicitationRequest } from '@interlude-ai/core/contract/elicitation.ts';
export type { Capabilities } from '@interlude-ai/core/elicitation/elicitation.ts';
