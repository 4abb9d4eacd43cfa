/** The door of `interlude/ai-sdk`: what is not named here may change. */
export { createInterlude } from './provider.ts';
export type { InterludeOptions, InterludeProvider } from './provider.ts';
export type { InterludeCallOptions } from './call.ts';
export type { AgentModelV2 } from './version-2.ts';
export type { AgentModelV3 } from './version-3.ts';
export type { Decision, ElicitationContext, OnElicitation } from '../client/answer-questions.ts';
export type { Timing } from '../client/retry.ts';
export type { Token } from '../client/send.ts';
export type { ElicitationRequest } from '../contract/elicitation.ts';
export type { Capabilities } from '../elicitation/capabilities.ts';
