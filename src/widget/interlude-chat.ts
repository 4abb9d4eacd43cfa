/**
 * `<interlude-chat>` as a page sees it: types, and nothing of what it is made of. In the package people install, the
 * script that defines the element stands in this file's place.
 */
import type { ElicitationRequest } from '../contract/elicitation.ts';
import type { Token } from '../client/send.ts';
import type { PageContext } from './page-context.ts';
import type { Words } from './words/en.ts';

export type { PageContext } from './page-context.ts';
export type { Token } from '../client/send.ts';
export type { Words } from './words/en.ts';

export interface InterludeChatElement extends HTMLElement {
  /**
   * Of the signed-in user: the token, or a function that fetches one. Another one is another sign-in, and nothing of
   * before stays; `''` signs out.
   */
  token: Token;
  /** What the page shows, or a function that says it: told to the agent with every message, and shown to nobody. */
  context: PageContext;
  /** Instead of ours, one by one. */
  texts: Partial<Words>;
  /** What to begin with, as buttons in an empty conversation. */
  suggestions: readonly string[];
  /** The attribute, or else one that is made up; the service knows that one from its first `turn-started` on. */
  readonly conversation: string;
  /** Puts an empty conversation of an own id in its place. */
  startAnew(): void;
  /** Of a floating one: shows it, and puts the cursor where one writes. */
  open(): void;
  close(): void;
}

/** Of the event `elicitation`: a question was opened, or its status changed. */
export type ElicitationNews = Pick<ElicitationRequest, 'elicitationId' | 'mode' | 'status'> & {
  /** The name of the server that the question is about; a question of the agent, or of its own tools, has none. */
  server?: string | undefined;
};

declare global {
  interface HTMLElementTagNameMap {
    'interlude-chat': InterludeChatElement;
  }
}
