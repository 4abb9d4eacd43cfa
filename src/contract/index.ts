/** The door of `interlude/contract`: what goes over the wire, as zod schemas. What is not named here may change. */
export { ApprovalListSchema, ApprovalSchema } from './approvals.ts';
export type { Approval, ApprovalList } from './approvals.ts';
export {
  CancelAnswerSchema,
  ChatAnswerSchema,
  ChatRequestSchema,
  ElicitationResponsePartSchema,
  PageContextPartSchema,
} from './chat.ts';
export type { CancelAnswer, ChatRequest } from './chat.ts';
export { ConnectionListSchema, ConnectionSchema, DisconnectedSchema } from './connections.ts';
export type { Connection, ConnectionList, Disconnected } from './connections.ts';
export { ConversationListSchema, ConversationMessagesSchema, ConversationSchema } from './conversations.ts';
export type { Conversation, ConversationList, ConversationMessages } from './conversations.ts';
export {
  ElicitationRequestSchema,
  PlacedElicitationListSchema,
  PlacedElicitationSchema,
  questionMetaKey,
  QuestionMetaSchema,
} from './elicitation.ts';
export {
  ElicitationReceiptSchema,
  ElicitationReceiptsSchema,
  ElicitationResponseSchema,
  ElicitationResponsesSchema,
} from './elicitation-response.ts';
export type { ElicitationRequest, PlacedElicitation, PlacedElicitationList } from './elicitation.ts';
export type {
  ElicitationReceipt,
  ElicitationReceipts,
  ElicitationResponse,
  ElicitationResponses,
} from './elicitation-response.ts';
export { ToolAuthRequiredSchema } from './notice.ts';
export type { ToolAuthRequired } from './notice.ts';
export { ChatCompletionRequestSchema, ChatCompletionSchema, ModelListSchema } from './openai.ts';
export type { ChatCompletionRequest, ModelList } from './openai.ts';
export { OperationSchema } from './operation.ts';
export type { Operation } from './operation.ts';
export { ProblemSchema } from './problem.ts';
export { StreamEventSchema } from './stream-event.ts';
export type { StreamEvent } from './stream-event.ts';
