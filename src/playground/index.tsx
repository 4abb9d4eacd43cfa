/** The page that `npm start` opens: a conversation, and beside it what its turns do. */
import { createRoot } from 'react-dom/client';
import { createClient } from '../client/client.ts';
import { defineInterludeChat } from '../widget/element.tsx';
import { comeBackFromSignIn, keepForSignIn } from './address.ts';
import { Playground } from './playground.tsx';
import { readSettings } from './settings.ts';
import { createSignIn } from './sign-in.ts';
import { timelineStyle } from '../timeline/markup.ts';
import { style } from './style.ts';

defineInterludeChat();
const place = document.querySelector('main');
const settings = readSettings();
if (place && settings) {
  comeBackFromSignIn();
  const signIn = createSignIn(settings.user);
  const client = createClient({ baseUrl: location.origin, token: signIn.token });
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(timelineStyle + style);
  document.adoptedStyleSheets.push(sheet);
  createRoot(place).render(<Playground {...{ client, signIn }} {...settings} />);
} else keepForSignIn();
