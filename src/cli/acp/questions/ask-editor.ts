/** Puts one question to the editor, once. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Decision } from '../../../client/answer-questions.ts';
import type { ElicitationRequest } from '../../../contract/elicitation.ts';
import type { Editor } from '../editor.ts';
import { readElicitation, readPermission } from './read-reply.ts';
import type { ReadReply } from './read-reply.ts';
import { toRequest } from './to-request.ts';
import type { Place } from './to-request.ts';

export type Asked =
  | { kind: 'decision'; decision: Decision }
  /** The editor has no dialog of this kind. */
  | { kind: 'no-mode' }
  /** Nobody decided anything: an error, something that is no answer, a dialog that closed by itself. */
  | { kind: 'none' };

interface Asking {
  editor: Editor;
  place: Place;
  /** What was wrong with the answer before. */
  misfit: string | undefined;
  isPrompting: () => boolean;
  signal: AbortSignal;
}

/** A client that is about to leave, or to cancel, closes its dialogs first. */
const afterthoughtMs = 200;

export async function askEditor(
  question: ElicitationRequest,
  { editor, place, misfit, isPrompting, signal }: Asking,
): Promise<Asked> {
  const request = toRequest(question, place, { modes: editor.modes, misfit });
  if (request.kind === 'no-mode') return request;
  const isInPrompt = isPrompting();
  const reply = await send(question, request, { editor, signal });
  if (reply.kind !== 'dismissed') return reply;
  if (!isInPrompt) return { kind: 'none' };
  await delay(afterthoughtMs, undefined, { signal: AbortSignal.any([signal, editor.closed]) }).catch(
    () => undefined,
  );
  const isDecided = isPrompting() && !signal.aborted && !editor.closed.aborted;
  return isDecided ? { kind: 'decision', decision: { action: 'cancel' } } : { kind: 'none' };
}

async function send(
  question: ElicitationRequest,
  request: Exclude<ReturnType<typeof toRequest>, { kind: 'no-mode' }>,
  { editor, signal }: Pick<Asking, 'editor' | 'signal'>,
): Promise<ReadReply> {
  try {
    return request.kind === 'permission'
      ? readPermission(await editor.requestPermission(request.params, signal))
      : readElicitation(question, await editor.elicit(request.params, signal));
  } catch {
    // The client has refused it, or is gone.
    return { kind: 'none' };
  }
}
