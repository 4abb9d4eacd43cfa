/**
 * Which conversation the page shows: in its address, so that a reload comes back to it and a second window can join. A
 * sign-in leads to other pages and loses that part of an address; the tab remembers it meanwhile.
 */
import { recall, remember } from '../widget/tab-memory.ts';

const name = 'interlude-conversation';

export function conversationInAddress(): string | undefined {
  const id = location.hash.slice(1);
  return /^[\w.:-]{1,128}$/.test(id) ? id : undefined;
}

export function putInAddress(conversation: string | undefined): void {
  history.replaceState(null, '', conversation === undefined ? location.pathname : `#${conversation}`);
}

/** For a new one; the browser's way back leads to the one before. */
export function leaveAddress(): void {
  if (conversationInAddress() !== undefined) history.pushState(null, '', location.pathname);
}

/** To be called where a sign-in may begin. */
export function keepForSignIn(): void {
  remember(name, conversationInAddress());
}

/** To be called once somebody is signed in. */
export function comeBackFromSignIn(): void {
  const kept = recall(name);
  remember(name, undefined);
  if (kept !== undefined && conversationInAddress() === undefined) putInAddress(kept);
}
