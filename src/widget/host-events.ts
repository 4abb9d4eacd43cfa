/** What the page around the widget hears of it, as events of the element. Nothing that was said is in them. */
import type { ElicitationNews } from './interlude-chat.ts';
import { questionsIn } from './message.ts';
import type { Message } from './message.ts';
import type { Phase } from './use-conversation.ts';

/** `elicitation` when a question opens and when its status changes; `turn-started` and `turn-ended` around what the agent does. */
export function announceTo(element: HTMLElement) {
  const known = new Map<string, string>();
  let wasWorking = false;
  let asked: string | undefined;

  return (messages: readonly Message[], phase: Phase): void => {
    for (const question of questionsIn(messages)) {
      const { elicitationId, mode, status, context } = question;
      const before = known.get(elicitationId);
      known.set(elicitationId, status);
      // What was settled before anybody saw it here is no news.
      if (before === status || (before === undefined && status !== 'pending')) continue;
      const news: ElicitationNews = { elicitationId, mode, status, server: context.server };
      tell(element, 'elicitation', news);
    }
    const before = asked;
    if (phase === 'working') asked = messages.findLast(({ role }) => role === 'user')?.id;
    // A turn that gave way to a message.
    if (wasWorking && phase === 'working' && asked !== before) {
      tell(element, 'turn-ended', {});
      tell(element, 'turn-started', {});
    }
    if (!wasWorking && phase === 'working') tell(element, 'turn-started', {});
    if (wasWorking && phase === 'idle') tell(element, 'turn-ended', {});
    // While it is loaded once more, nothing is known to have ended.
    if (phase === 'working' || phase === 'idle') wasWorking = phase === 'working';
  };
}

export function tell(element: HTMLElement, type: string, detail: Record<string, unknown>): void {
  element.dispatchEvent(new CustomEvent(type, { detail, bubbles: true, composed: true }));
}
