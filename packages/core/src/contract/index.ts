/** The door of `@interlude-ai/client/contract`: what goes over the wire, as zod schemas. What is not named here may change. */
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
} from './elicitation.ts';
export type { ElicitationRequest, PlacedElicitation, PlacedElicitationList } from './elicitation.ts';
export type {
  ElicitationReceipt,
  ElicitationReceipts,
  ElicitationResponse,
  ElicitationResponses,
} from './elicitation.ts';
export { ToolAuthRequiredSchema } from './stream-event.ts';
export type { ToolAuthRequired } from './stream-event.ts';
export { ChatCompletionRequestSchema, ChatCompletionSchema, ModelListSchema } from './openai.ts';
export type { ChatCompletionRequest, ModelList } from './openai.ts';
export { OperationSchema } from './stream-event.ts';
export type { Operation } from './stream-event.ts';
export { ProblemSchema } from './http.ts';
export { StreamEventSchema } from './stream-event.ts';
export type { StreamEvent } from './stream-event.ts';
