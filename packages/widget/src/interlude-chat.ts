/**
 * The public types of `<interlude-chat>`. In the published package, this file is replaced by the script that defines the
 * element.
 */
import type { ElicitationRequest } from '@interlude-ai/core/contract/elicitation.ts';
import type { Token } from '@interlude-ai/client/send.ts';
import type { PageContext } from './page-context.ts';
import type { Words } from '@interlude-ai/core/elicitation/words/en.ts';

export type { PageContext } from './page-context.ts';
export type { Token } from '@interlude-ai/client/send.ts';
export type { Words } from '@interlude-ai/core/elicitation/words/en.ts';

export interface InterludeChatElement extends HTMLElement {
  /**
   * The token of the signed-in user, or a function that fetches one. Another one is another sign-in, and removes everything
   * of the previous one; `''` signs out.
   */
  token: Token;
  /** What the page shows, or a function that returns it: passed to the agent with every message, and never shown. */
  context: PageContext;
  /** Texts that replace ours. */
  texts: Partial<Words>;
  /** Suggested first messages, as buttons in an empty conversation. */
  suggestions: readonly string[];
  /** The attribute, or else an id that the element chose, which the service stores with the first `turn-started`. */
  readonly conversation: string;
  /** Shows a new, empty conversation. */
  startAnew(): void;
  /** For a floating chat: shows it, and focuses the composer. */
  open(): void;
  close(): void;
}

/** The detail of the event `elicitation`: a question was opened, or its status changed. */
export type ElicitationNews = Pick<ElicitationRequest, 'elicitationId' | 'mode' | 'status'> & {
  /** The name of the server that the question is about; absent for a question of the agent or of its own tools. */
  server?: string | undefined;
};

declare global {
  interface HTMLElementTagNameMap {
    'interlude-chat': InterludeChatElement;
  }
}
