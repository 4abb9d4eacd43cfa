/** Reads what an AG-UI client posts. Pure. */
import type { AgUiRun } from '@interlude-ai/core/contract/ag-ui.ts';
import { PageContextTextSchema } from '@interlude-ai/core/contract/chat.ts';
import { ClientIdSchema } from '@interlude-ai/core/contract/http.ts';
import { isApproval, longestReason } from '@interlude-ai/core/elicitation/approval.ts';
import { isAction } from '@interlude-ai/core/elicitation/elicitation.ts';
import type { ElicitationRequest, ElicitationResponse } from '@interlude-ai/core/elicitation/elicitation.ts';
import { isRecord, presentMembers } from '@interlude-ai/core/elicitation/form/schema-keywords.ts';
import { fittedResponse } from '../../service/answer-content.ts';
import type { GivenMessage } from '../../service/take-images.ts';
import { toPageContextPart } from '../../turn/message-parts.ts';
import { givenImage } from '../http/given-image.ts';
import { invalidRequest } from '../http/problems.ts';
import { parseInput } from '../http/validation.ts';

type Message = AgUiRun['messages'][number];
export type ResumeEntry = NonNullable<AgUiRun['resume']>[number];

export function isUser({ role }: Message): boolean {
  return role === 'user';
}

/** The user's last message, with what the page shows. Throws a 400 that points at what is wrong. */
export function lastUserMessage({ messages, context: given }: AgUiRun): GivenMessage {
  const index = messages.findLastIndex(isUser);
  const message = messages[index];
  if (!message) throw invalidRequest([{ pointer: '/messages', detail: 'there is no message of the user' }]);
  const at = `/messages/${index}`;
  const id = parseInput(ClientIdSchema, message.id, `${at}/id`);
  const content = contentOf(message, at);
  if (content.length === 0)
    throw invalidRequest([{ pointer: `${at}/content`, detail: 'the message has no text and no image' }]);
  const context = (given ?? []).map(({ description, value }) => `${description}:\n${value}`).join('\n\n');
  const shown = parseInput(PageContextTextSchema, context, '/context');
  return { id, role: 'user', content: [...content, ...(shown === '' ? [] : [toPageContextPart(shown)])] };
}

/** Whether the user's message comes after everything that the client has from agents. */
export function endsWithUser({ messages }: AgUiRun): boolean {
  return messages.findLast(({ role }) => role !== 'activity')?.role === 'user';
}

/** Whether the run may answer questions or send results of front-end tools, and starts no turn. */
export function mayAnswer(body: AgUiRun): boolean {
  const { messages, resume } = body;
  return ((resume ?? []).length > 0 || messages.at(-1)?.role === 'tool') && !endsWithUser(body);
}

function contentOf({ content }: Message, at: string): GivenMessage['content'] {
  const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : (content ?? []);
  return parts.flatMap((part: Record<string, unknown>, index): GivenMessage['content'] => {
    const place = `${at}/content/${index}`;
    if (part['type'] === 'text') {
      const { text } = part;
      return typeof text === 'string' && text.trim() !== '' ? [{ type: 'text', text }] : [];
    }
    if (part['type'] === 'image') return [givenImage(addressOf(part['source']), `${place}/source/value`)];
    throw invalidRequest([{ pointer: place, detail: 'only text and images are understood' }]);
  });
}

function addressOf(source: unknown): unknown {
  if (!isRecord(source)) return undefined;
  const { type, value, mimeType } = source;
  return type === 'data' ? `data:${String(mimeType)};base64,${String(value)}` : value;
}

/** The answer that an entry gives to its question. Throws a 400 for a payload that is none. `at`: JSON pointer to the entry. */
export function responseOf(
  { status, payload }: ResumeEntry,
  request: ElicitationRequest,
  at: string,
): ElicitationResponse {
  if (status === 'cancelled') return { action: 'cancel' };
  const refuse = (detail: string) => invalidRequest([{ pointer: `${at}/payload`, detail }]);
  const given = isRecord(payload) ? presentMembers(payload) : payload;
  if (isRecord(given) && isAction(given['action']) && !isOwnField(request, 'action')) {
    const { action, content, remember, reason } = given;
    if (content !== undefined && !isRecord(content)) throw refuse('content: send an object');
    return fitted(request, { action, content, remember, reason }, refuse);
  }
  if (isApproval(request.context)) {
    const decision = typeof given === 'boolean' ? { approved: given } : given;
    if (!isRecord(decision) || typeof decision['approved'] !== 'boolean')
      throw refuse('send {"approved": true} or {"approved": false}');
    const { approved, remember, reason } = decision;
    return fitted(request, { action: approved ? 'accept' : 'decline', remember, reason }, refuse);
  }
  if (request.mode === 'url') {
    if (given === undefined || given === true || (isRecord(given) && Object.keys(given).length === 0))
      return { action: 'accept' };
    throw refuse('a link takes no payload, or {"action": "decline"}');
  }
  if (!isRecord(given)) throw refuse('send an object with the fields of responseSchema');
  return { action: 'accept', content: given };
}

function fitted(
  request: ElicitationRequest,
  answer: { action: ElicitationResponse['action']; content?: unknown; remember: unknown; reason: unknown },
  refuse: (detail: string) => Error,
): ElicitationResponse {
  const { action, content, remember, reason } = answer;
  const isForApproval = isApproval(request.context);
  if (remember !== undefined) {
    if (remember !== 'conversation' && remember !== 'always')
      throw refuse('remember: send "conversation" or "always"');
    if (!isForApproval || action !== 'accept') throw refuse('remember: only an approval is remembered');
  }
  if (reason !== undefined) {
    if (typeof reason !== 'string' || reason.length > longestReason)
      throw refuse(`reason: send a text of at most ${longestReason} characters`);
    if (!isForApproval || action !== 'decline') throw refuse('reason: only a refused approval has a reason');
  }
  return fittedResponse(request, {
    action,
    ...(isRecord(content) && { content }),
    ...(remember !== undefined && { remember }),
    ...(reason !== undefined && { reason }),
  } as ElicitationResponse);
}

/** A form may have a field of this name; then the payload is its content. */
function isOwnField(request: ElicitationRequest, name: string): boolean {
  if (request.mode !== 'form') return false;
  const { properties } = request.requestedSchema;
  return isRecord(properties) && Object.hasOwn(properties, name);
}
