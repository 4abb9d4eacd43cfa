/** The events that the element sends to its page. They contain nothing that was said. */
import type { ElicitationNews } from './interlude-chat.ts';
import { questionsIn } from './message.ts';
import type { Message } from './message.ts';
import type { Phase } from './use-conversation.ts';

/** `elicitation` when a question opens or changes its status; `turn-started` and `turn-ended` around the agent's work. */
export function announceTo(element: HTMLElement) {
  const known = new Map<string, string>();
  let wasWorking = false;
  let asked: string | undefined;

  return (messages: readonly Message[], phase: Phase): void => {
    for (const question of questionsIn(messages)) {
      const { elicitationId, mode, status, context } = question;
      const before = known.get(elicitationId);
      known.set(elicitationId, status);
      // Questions that were settled before they were shown here are not reported.
      if (before === status || (before === undefined && status !== 'pending')) continue;
      const news: ElicitationNews = { elicitationId, mode, status, server: context.server };
      tell(element, 'elicitation', news);
    }
    const before = asked;
    if (phase === 'working') asked = messages.findLast(({ role }) => role === 'user')?.id;
    // A turn that was replaced by a message.
    if (wasWorking && phase === 'working' && asked !== before) {
      tell(element, 'turn-ended', {});
      tell(element, 'turn-started', {});
    }
    if (!wasWorking && phase === 'working') tell(element, 'turn-started', {});
    if (wasWorking && phase === 'idle') tell(element, 'turn-ended', {});
    // During a reload, no turn is known to have ended.
    if (phase === 'working' || phase === 'idle') wasWorking = phase === 'working';
  };
}

export function tell(element: HTMLElement, type: string, detail: Record<string, unknown>): void {
  element.dispatchEvent(new CustomEvent(type, { detail, bubbles: true, composed: true }));
}

/** Keeps the focus in the composer when `draw` replaces it. */
export function keepWriting(root: ShadowRoot | null, draw: () => void): void {
  const composer = () => root?.querySelector<HTMLTextAreaElement>('.composer textarea');
  const isWriting = root?.activeElement != null && root.activeElement === composer();
  draw();
  if (isWriting) composer()?.focus();
}
