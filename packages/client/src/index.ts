/** The public interface of `@interlude-ai/client`. Names that are not listed here may change. */
export { createToolClient as createClient } from './call-tool.ts';
export type { CallToolOptions, ToolCallResult, ToolClient as Client } from './call-tool.ts';
export type { ClientOptions, PageOptions } from './client.ts';
export type { Decision, ElicitationContext, OnElicitation } from './answer-questions.ts';
export type { CallOptions } from './retry.ts';
export type { EventsOptions, FeedItem } from './follow.ts';
export type { FollowOptions } from './follow.ts';
export { isSafeToOpen } from '@interlude-ai/core/elicitation/url-safety.ts';
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
export type { Capabilities } from '@interlude-ai/core/elicitation/elicitation.ts';
export type { Approval } from '@interlude-ai/core/contract/approvals.ts';
export type { CancelAnswer } from '@interlude-ai/core/contract/chat.ts';
export type { Connection, Disconnected } from '@interlude-ai/core/contract/connections.ts';
export type {
  Conversation,
  ConversationList,
  ConversationMessages,
} from '@interlude-ai/core/contract/conversations.ts';
export type { ElicitationRequest, PlacedElicitation } from '@interlude-ai/core/contract/elicitation.ts';
export type {
  ElicitationReceipt,
  ElicitationReceipts,
  ElicitationResponse,
  ElicitationResponses,
} from '@interlude-ai/core/contract/elicitation.ts';
export type { ToolAuthRequired } from '@interlude-ai/core/contract/stream-event.ts';
export type { ModelList } from '@interlude-ai/core/contract/openai.ts';
export type { Operation } from '@interlude-ai/core/contract/stream-event.ts';
export type { StreamEvent } from '@interlude-ai/core/contract/stream-event.ts';
