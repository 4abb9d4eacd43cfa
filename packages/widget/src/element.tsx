/** `<interlude-chat>`: the widget for any page, in a shadow root with its own style sheet. */
import { createRoot } from 'react-dom/client';
import type { Root } from 'react-dom/client';
import { createClient } from '@interlude-ai/client/client.ts';
import type { Client } from '@interlude-ai/client/client.ts';
import { randomId } from '@interlude-ai/client/new-message.ts';
import type { Token } from '@interlude-ai/client/send.ts';
import { Chat } from './chat.tsx';
import {
  forgetDrafts,
  keepDraft,
  keepDraftImages,
  readDraftImages,
  recallOwn,
  rememberOwn,
  setShown,
} from './tab-memory.ts';
import type { InterludeChatElement, ElicitationNews } from './interlude-chat.ts';
import { openQuestions, questionsIn } from './message.ts';
import type { Message } from './message.ts';
import type { PageContext } from './page-context.ts';
import { Place } from './place.tsx';
import { style } from './style.ts';
import type { Phase } from './use-conversation.ts';
import { languageOf } from '@interlude-ai/core/elicitation/language.ts';
import { wordsFor } from '@interlude-ai/core/elicitation/words.ts';
import type { Words } from '@interlude-ai/core/elicitation/words.ts';

/** So that the module can be imported on a server, where there is no `HTMLElement`. */
const Base = (globalThis.HTMLElement ?? Object) as typeof HTMLElement;

export class InterludeChat extends Base implements InterludeChatElement {
  static readonly observedAttributes = ['api', 'agent', 'conversation', 'lang', 'images', 'floating', 'open'];
  #token: Token = '';
  #context: PageContext = '';
  #texts: Partial<Words> = {};
  #suggestions: readonly string[] = [];
  /** Id of the conversation that this element began, shown when the attribute names none. */
  #own: string | undefined;
  /** Whether the service has stored `#own`. */
  #isBegun = false;
  /** Whether `#own` is from before a reload: it may be gone, or belong to a previous user. */
  #isRecalled = false;
  /** Counts changes of the user. Part of the chat's key, so that no state of one user is shown to the next. */
  #signIn = 0;
  #root: Root | undefined;
  #client: { api: string; language: string; client: Client } | undefined;
  #announce = announceTo(this);
  /** The number of open questions. */
  #waiting = 0;
  /** The key of the rendered chat: user, service and conversation. Empty while none is rendered. */
  #shown = '';

  #changed = (messages: readonly Message[], phase: Phase): void => {
    this.#announce(messages, phase);
    if ((phase === 'sending' || phase === 'working') && !this.#isBegun) this.#begun();
    const waiting = openQuestions(messages).length;
    if (waiting === this.#waiting) return;
    this.#waiting = waiting;
    // Effects can run during a rendering, and a nested rendering leaves elements behind.
    queueMicrotask(() => this.#render());
  };

  #readContext = (): PageContext => this.#context;

  get token(): Token {
    return this.#token;
  }
  set token(token: Token) {
    if (token === this.#token) return;
    const isAnother = this.#token !== '';
    if (isAnother) this.#forget();
    this.#token = token;
    this.#client = undefined;
    this.#render();
  }

  get context(): PageContext {
    return this.#context;
  }
  set context(context: PageContext) {
    this.#context = context;
  }

  get texts(): Partial<Words> {
    return this.#texts;
  }
  set texts(texts: Partial<Words>) {
    this.#texts = texts;
    this.#render();
  }

  get conversation(): string {
    return this.getAttribute('conversation') || this.#ownId();
  }

  #ownId(): string {
    if (this.#own === undefined) {
      const recalled = recallOwn(this.#memoryKey());
      this.#isRecalled = recalled !== undefined;
      this.#isBegun = this.#isRecalled;
      this.#own = recalled ?? randomId();
      if (this.isConnected) setShown(this.#own, true);
    }
    return this.#own;
  }

  /** Distinguishes the elements of a page, and is the same after a reload. */
  #memoryKey(): string {
    return [this.#api(), this.getAttribute('agent') ?? '', this.id].join(' ');
  }

  #api(): string {
    return new URL(this.getAttribute('api') || '/', document.baseURI).href.replace(/\/$/, '');
  }

  #begun(): void {
    this.#isBegun = true;
    if (this.#own !== undefined && this.conversation === this.#own) rememberOwn(this.#memoryKey(), this.#own);
  }

  /** The current draft was written by the current user, so it moves to the new conversation. */
  #unknown = (written: string): void => {
    const images = readDraftImages(this.#own ?? '');
    this.#keepDraft('', []);
    this.#leaveOwn();
    this.#keepDraft(written, images);
    keepWriting(this.shadowRoot, () => this.#render());
  };

  #keepDraft(text: string, images: readonly string[]): void {
    if (this.#own === undefined) return;
    keepDraft(this.#own, text);
    keepDraftImages(this.#own, images);
  }

  startAnew(): void {
    // Recalls the conversation first if it was not shown yet, so that it is forgotten, too.
    this.#ownId();
    this.#leaveOwn();
    this.removeAttribute('conversation');
    this.#render();
  }

  get suggestions(): readonly string[] {
    return this.#suggestions;
  }
  set suggestions(suggestions: readonly string[]) {
    this.#suggestions = suggestions;
    this.#render();
  }

  open(): void {
    this.toggleAttribute('open', true);
  }

  close(): void {
    this.toggleAttribute('open', false);
  }

  connectedCallback(): void {
    for (const name of ['token', 'context', 'texts', 'suggestions']) this.#upgradeProperty(name);
    const shadow = this.shadowRoot ?? this.attachShadow({ mode: 'open', delegatesFocus: true });
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(style);
    shadow.adoptedStyleSheets = [sheet];
    this.#root = createRoot(shadow);
    if (this.#own !== undefined) setShown(this.#own, true);
    this.#render();
  }

  disconnectedCallback(): void {
    this.#root?.unmount();
    this.#root = undefined;
    if (this.#own !== undefined) setShown(this.#own, false);
    this.#announce([], 'idle');
  }

  attributeChangedCallback(name: string, before: string | null, now: string | null): void {
    if (before === now) return;
    // A conversation belongs to one service and one agent.
    if (name === 'api' || (name === 'agent' && this.#isBegun)) this.#leaveOwn();
    this.#render();
    if (name === 'open' && this.#root && (before === null) !== (now === null))
      tell(this, now === null ? 'closed' : 'opened', {});
  }

  /** Applies a property that was set before the element was defined: it hides the accessor until it is deleted. */
  #upgradeProperty(name: string): void {
    if (!Object.hasOwn(this, name)) return;
    const given: unknown = Reflect.get(this, name);
    Reflect.deleteProperty(this, name);
    Reflect.set(this, name, given);
  }

  /** Forgets `#own`, and makes the id of a new conversation. */
  #leaveOwn(): void {
    if (this.#own === undefined) return;
    setShown(this.#own, false);
    rememberOwn(this.#memoryKey(), undefined);
    this.#own = randomId();
    setShown(this.#own, this.isConnected);
    this.#isBegun = false;
    this.#isRecalled = false;
  }

  /** Forgets everything of the previous user. */
  #forget(): void {
    this.#signIn += 1;
    this.#leaveOwn();
    forgetDrafts();
    this.#waiting = 0;
  }

  #render(): void {
    const before = this.#shown;
    this.#draw();
    // The previous conversation is no longer shown.
    if (this.#shown !== before) this.#announce([], 'idle');
  }

  #draw(): void {
    if (!this.#root) return;
    if (this.#token === '') {
      this.#shown = '';
      return this.#root.render(null);
    }
    const api = this.#api();
    const language = languageOf(this.closest('[lang]')?.getAttribute('lang') ?? navigator.language);
    if (this.#client?.api !== api || this.#client.language !== language) {
      const token: Token = this.#token;
      const capabilities = { url: true, form: true };
      const client = createClient({ baseUrl: api, token, capabilities, language });
      this.#client = { api, language, client };
    }
    const signIn = this.#signIn;
    const conversationId = this.conversation;
    const isOwn = conversationId === this.#own;
    this.#shown = `${signIn} ${api} ${conversationId}`;
    const words = wordsFor(language, this.#texts);
    this.#root.render(
      <Place
        isFloating={this.hasAttribute('floating')}
        isOpen={this.hasAttribute('open')}
        waiting={this.#waiting}
        words={words}
        onToggle={(isOpen) => this.toggleAttribute('open', isOpen)}
      >
        <Chat
          key={this.#shown}
          client={this.#client.client}
          conversationId={conversationId}
          isNew={isOwn && !this.#isBegun}
          onUnknown={isOwn && this.#isRecalled ? this.#unknown : undefined}
          context={this.#readContext}
          agent={this.getAttribute('agent') || undefined}
          words={words}
          suggestions={this.#suggestions}
          takesImages={this.hasAttribute('images')}
          isSignedOut={() => this.#signIn !== signIn}
          onChange={this.#changed}
        />
      </Place>,
    );
  }
}

export function defineInterludeChat(): void {
  if (globalThis.customElements && !customElements.get('interlude-chat'))
    customElements.define('interlude-chat', InterludeChat);
}

/** `elicitation` when a question opens or changes its status; `turn-started` and `turn-ended` around the agent's work. */
function announceTo(element: HTMLElement) {
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

function tell(element: HTMLElement, type: string, detail: Record<string, unknown>): void {
  element.dispatchEvent(new CustomEvent(type, { detail, bubbles: true, composed: true }));
}

/** Keeps the focus in the composer when `draw` replaces it. */
function keepWriting(root: ShadowRoot | null, draw: () => void): void {
  const composer = () => root?.querySelector<HTMLTextAreaElement>('.composer textarea');
  const isWriting = root?.activeElement != null && root.activeElement === composer();
  draw();
  if (isWriting) composer()?.focus();
}
