'use client';
/**
 * `<interlude-chat>` as a component, for React 18 and 19. Renders an empty element, also on a server; in a browser, the
 * element is defined when it is first shown, and then gets its properties.
 */
import { createElement, forwardRef, useCallback, useEffect, useImperativeHandle, useRef } from 'react';
import type { CSSProperties, ForwardRefExoticComponent, RefAttributes } from 'react';
import type { ElicitationNews, InterludeChatElement, PageContext, Token, Words } from './interlude-chat.ts';

export interface InterludeChatProps {
  /** The address of the service; the page's own origin unless given. */
  api?: string | undefined;
  /** Used for new conversations; the first agent unless given. */
  agent?: string | undefined;
  /** The conversation to show; a new one unless given. */
  conversation?: string | undefined;
  /**
   * Without a token, nothing is shown. A function may be a new one each time; for another user, give the component another
   * `key`.
   */
  token?: Token | undefined;
  /** What the page shows: passed to the agent with every message. */
  context?: PageContext | undefined;
  texts?: Partial<Words> | undefined;
  suggestions?: readonly string[] | undefined;
  /** Whether the user may send images: the agent must take them. */
  images?: boolean | undefined;
  theme?: 'light' | 'dark' | undefined;
  lang?: string | undefined;
  dir?: 'ltr' | 'rtl' | undefined;
  floating?: boolean | undefined;
  /** For a floating chat. Users open and close it, too: see `onOpened`, `onClosed`. */
  open?: boolean | undefined;
  onElicitation?: ((news: ElicitationNews) => void) | undefined;
  onTurnStarted?: (() => void) | undefined;
  onTurnEnded?: (() => void) | undefined;
  onOpened?: (() => void) | undefined;
  onClosed?: (() => void) | undefined;
  className?: string | undefined;
  style?: CSSProperties | undefined;
}

export const InterludeChat: ForwardRefExoticComponent<
  InterludeChatProps & RefAttributes<InterludeChatElement>
> = forwardRef<InterludeChatElement, InterludeChatProps>(function InterludeChat(props, ref) {
  const { api, agent, conversation, images, theme, lang, dir, floating, open, className, style } = props;
  const { token = '', context = '', texts = none, suggestions = nothing } = props;
  const element = useRef<InterludeChatElement>(null);
  // The element exists whenever React reads the ref.
  useImperativeHandle(ref, () => element.current as InterludeChatElement, []);

  const latest = useRef(props);
  useEffect(() => {
    latest.current = props;
  });
  // Stable, because a new function would be a new sign-in.
  const fetchToken = useCallback(async () => {
    const { token: now = '' } = latest.current;
    return typeof now === 'function' ? now() : now;
  }, []);
  const sayContext = useCallback(() => {
    const { context: now } = latest.current;
    return typeof now === 'function' ? now() : now;
  }, []);

  useEffect(() => void import('./interlude-chat.ts'), []);
  useAttributes(element, { api, agent, conversation, images, theme, lang, dir, floating });
  useEffect(() => {
    if (open !== undefined) element.current?.toggleAttribute('open', open);
  }, [open]);
  useProperty(element, 'token', typeof token === 'function' ? fetchToken : token);
  useProperty(element, 'context', typeof context === 'function' ? sayContext : context);
  useProperty(element, 'texts', texts);
  useProperty(element, 'suggestions', suggestions);
  useEvents(element, latest);

  // `class`, not `className`: both versions pass it on unchanged to unknown elements.
  return createElement('interlude-chat', { ref: element, class: className, style });
});

type Place = { readonly current: InterludeChatElement | null };

const none: Partial<Words> = {};
const nothing: readonly string[] = [];

/** Only sets changed attributes: the element reacts to each one that is set. */
function useAttributes(place: Place, attributes: Record<string, string | boolean | undefined>): void {
  useEffect(() => {
    const element = place.current;
    if (!element) return;
    for (const [name, value] of Object.entries(attributes)) {
      const text = value === true ? '' : value;
      if (text === undefined || text === false) element.removeAttribute(name);
      else if (element.getAttribute(name) !== text) element.setAttribute(name, text);
    }
  });
}

/** Also works before the element is defined, which reads the property then. */
function useProperty<Name extends 'token' | 'context' | 'texts' | 'suggestions'>(
  place: Place,
  name: Name,
  value: InterludeChatElement[Name],
): void {
  useEffect(() => {
    if (place.current) place.current[name] = value;
  }, [place, name, value]);
}

function useEvents(place: Place, latest: { readonly current: InterludeChatProps }): void {
  useEffect(() => {
    const element = place.current;
    if (!element) return undefined;
    const leaving = new AbortController();
    const listen = (type: string, tell: (event: Event) => void) =>
      element.addEventListener(type, tell, { signal: leaving.signal });
    listen('elicitation', (event) =>
      latest.current.onElicitation?.((event as CustomEvent<ElicitationNews>).detail),
    );
    listen('turn-started', () => latest.current.onTurnStarted?.());
    listen('turn-ended', () => latest.current.onTurnEnded?.());
    listen('opened', () => latest.current.onOpened?.());
    listen('closed', () => latest.current.onClosed?.());
    return () => leaving.abort();
  }, [place, latest]);
}
