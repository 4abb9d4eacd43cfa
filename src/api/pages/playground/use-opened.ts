/**
 * The conversation that the page shows. Its id is in the address, so that a reload and a second window show the same one. A
 * sign-in leads to other pages and loses the fragment; the tab remembers the id meanwhile.
 */
import { useCallback, useEffect, useState } from 'react';
import type { Client } from '@interlude-ai/client/client.ts';
import { InterludeError } from '@interlude-ai/client/interlude-error.ts';
import { recall, remember } from '@interlude-ai/widget/tab-memory.ts';

export type Opened =
  /** The id is from the address; the service is being asked for it. */
  | { kind: 'looking'; conversation: string }
  /** `isMissing`: the one in the address does not exist, or belongs to another user. */
  | { kind: 'new'; agent?: string; isMissing?: boolean }
  /** `agent` is absent where the service did not answer. */
  | { kind: 'begun'; conversation: string; agent?: string };

interface OpenedConversation {
  opened: Opened;
  startAnew(agent: string | undefined): void;
  /** To be called once the service has stored the conversation. */
  begun(conversation: string): void;
}

export function useOpened(client: Client): OpenedConversation {
  const [opened, setOpened] = useState<Opened>(fromAddress);

  useEffect(() => {
    const changed = () => setOpened(fromAddress);
    addEventListener('hashchange', changed);
    return () => removeEventListener('hashchange', changed);
  }, []);

  useEffect(() => {
    if (opened.kind !== 'looking') return undefined;
    const leaving = new AbortController();
    void look(client, opened.conversation, leaving.signal).then((found) => {
      if (leaving.signal.aborted) return;
      if (found.kind === 'new') putInAddress(undefined);
      setOpened(found);
    });
    return () => leaving.abort();
  }, [client, opened]);

  function startAnew(agent: string | undefined) {
    leaveAddress();
    setOpened({ kind: 'new', ...(agent !== undefined && { agent }) });
  }

  const begun = useCallback((conversation: string) => {
    putInAddress(conversation);
    setOpened((before) => {
      if (before.kind === 'begun' && before.conversation === conversation) return before;
      const agent = before.kind === 'new' ? before.agent : undefined;
      return { kind: 'begun', conversation, ...(agent !== undefined && { agent }) };
    });
  }, []);

  return { opened, startAnew, begun };
}

function fromAddress(): Opened {
  const conversation = conversationInAddress();
  return conversation === undefined ? { kind: 'new' } : { kind: 'looking', conversation };
}

async function look(client: Client, conversation: string, signal: AbortSignal): Promise<Opened> {
  try {
    const { agent } = await client.conversation(conversation, { limit: 1, signal });
    return { kind: 'begun', conversation, agent };
  } catch (problem) {
    if (problem instanceof InterludeError && problem.status === 404) return { kind: 'new', isMissing: true };
    // The chat shows the problem and offers to try again.
    return { kind: 'begun', conversation };
  }
}

const name = 'interlude-conversation';

function conversationInAddress(): string | undefined {
  const id = location.hash.slice(1);
  return /^[\w.:-]{1,128}$/.test(id) ? id : undefined;
}

function putInAddress(conversation: string | undefined): void {
  history.replaceState(null, '', conversation === undefined ? location.pathname : `#${conversation}`);
}

/** A new history entry, so that the browser's back button leads to the previous conversation. */
function leaveAddress(): void {
  if (conversationInAddress() !== undefined) history.pushState(null, '', location.pathname);
}

/** To be called before a sign-in. */
export function keepForSignIn(): void {
  remember(name, conversationInAddress());
}

/** To be called after a sign-in. */
export function comeBackFromSignIn(): void {
  const kept = recall(name);
  remember(name, undefined);
  if (kept !== undefined && conversationInAddress() === undefined) putInAddress(kept);
}
