/** The public interface of `interlude/ai-sdk`. Names that are not listed here may change. */
export { createInterlude } from './provider.ts';
export type { InterludeOptions, InterludeProvider } from './provider.ts';
export type { InterludeCallOptions } from './call.ts';
export type { AgentModelV2, AgentModelV3 } from './versions.ts';
export type { Decision, ElicitationContext, OnElicitation } from '../client/answer-questions.ts';
export type { Timing } from '../client/retry.ts';
export type { Token } from '../client/send.ts';
export type { ElicitationRequest } from '../contract/elicitation.ts';
export type { Capabilities } from '../elicitation/elicitation.ts';
