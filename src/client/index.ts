/** The public interface of `interlude/client`. Names that are not listed here may change. */
export { createToolClient as createClient } from './call-tool.ts';
export type { CallToolOptions, ToolCallResult, ToolClient as Client } from './call-tool.ts';
export type { ClientOptions, PageOptions } from './client.ts';
export type { Decision, ElicitationContext, OnElicitation } from './answer-questions.ts';
export type { CallOptions } from './retry.ts';
export type { EventsOptions, FeedItem } from './follow.ts';
export type { FollowOptions } from './follow.ts';
export { isSafeToOpen } from '../elicitation/url-safety.ts';
export { InterludeError } from './interlude-error.ts';
export type { FieldError } from './interlude-error.ts';
export type { EarlierMessage, NewMessage } from './new-message.ts';
export type { ConnectionStatus, ReadOptions } from './reconnect.ts';
export type { Timing } from './retry.ts';
export type { Token } from './send.ts';
export type {
  ElicitationPart,
  NoticePart,
  OperationSeen,
  Part,
  Progress,
  TextPart,
  ToolCallPart,
  TurnView,
  ViewStatus,
} from './turn-view.ts';
export type { Capabilities } from '../elicitation/elicitation.ts';
export type { Approval } from '../contract/approvals.ts';
export type { CancelAnswer } from '../contract/chat.ts';
export type { Connection, Disconnected } from '../contract/connections.ts';
export type { Conversation, ConversationList, ConversationMessages } from '../contract/conversations.ts';
export type { ElicitationRequest, PlacedElicitation } from '../contract/elicitation.ts';
export type {
  ElicitationReceipt,
  ElicitationReceipts,
  ElicitationResponse,
  ElicitationResponses,
} from '../contract/elicitation.ts';
export type { ToolAuthRequired } from '../contract/stream-event.ts';
export type { ModelList } from '../contract/openai.ts';
export type { Operation } from '../contract/stream-event.ts';
export type { StreamEvent } from '../contract/stream-event.ts';
