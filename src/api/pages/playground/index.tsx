/** The page that `npm start` opens: a conversation, and beside it the events of its turns. */
import { createRoot } from 'react-dom/client';
import { createClient } from '@interlude-ai/client/client.ts';
import { defineInterludeChat } from '@interlude-ai/widget/element.tsx';
import { comeBackFromSignIn, keepForSignIn } from './use-opened.ts';
import { Playground } from './playground.tsx';
import { createSignIn, readSettings } from './sign-in.ts';
import { timelineStyle } from '../timeline-markup.ts';

/**
 * For what this script draws; the page's own sheet has the colours and the layout. In a low window the page scrolls, so that a
 * question fits at twice the text size. In a small window the bar is one row, or two where it is narrow, and its heading is only
 * read aloud.
 */
const style = `
.skip { position: absolute; inset-block-start: .5rem; inset-inline-start: .5rem; z-index: 1; padding: .5rem .875rem; border-radius: .625rem; background: var(--accent); color: var(--on-accent); font-weight: 600 }
.skip:not(:focus) { clip-path: inset(50%) }
.bar select, .bar button { border-color: light-dark(#8b8d90, #73777e) }
.bar button .short { display: none }
.bar button:hover { background: var(--raised) }
aside .timeline { flex: 1; min-height: 0; padding: .25rem 1rem 1rem .25rem; overflow-y: auto; font-size: .875rem }
.empty { text-wrap: pretty }
.again { padding: 0; border: 0; background: none; color: inherit; font: inherit; text-decoration: underline; text-underline-offset: .15em; cursor: pointer }
.notices p { margin: 0; padding: .625rem 1rem; border-block-end: 1px solid var(--line); background: var(--raised); font-size: .9375rem; text-wrap: pretty }
.mistakes code { display: block; color: var(--bad); overflow-wrap: anywhere; white-space: pre-wrap }
main { height: max(100dvh, 24rem) }
@media (max-width: 48rem) {
  main { height: max(100dvh, 38rem) }
  .bar button span { display: none }
  .bar button .short { display: inline }
  aside { max-height: 7rem }
}
@media (max-width: 30rem), (max-height: 30rem) {
  .bar { padding-block: .25rem }
  .bar h1 { position: absolute; inline-size: 1px; block-size: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap }
}
@media (max-width: 30rem) {
  .bar label { flex: 1; min-inline-size: 0 }
  .bar select { inline-size: 100% }
  .bar nav { flex: 1 0 100%; justify-content: space-between; column-gap: .5rem; font-size: .875rem }
}
@media (max-width: 15rem) { .bar .user { display: none } }
`;

defineInterludeChat();
const place = document.querySelector('main');
const settings = readSettings();
if (place && settings) {
  comeBackFromSignIn();
  const signIn = createSignIn(settings.user);
  const client = createClient({
    baseUrl: location.origin,
    token: signIn.token,
    language: document.documentElement.lang,
  });
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(timelineStyle + style);
  document.adoptedStyleSheets.push(sheet);
  createRoot(place).render(<Playground {...{ client, signIn }} {...settings} />);
} else keepForSignIn();
