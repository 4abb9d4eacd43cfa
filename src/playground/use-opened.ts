/** The conversation that the page shows, and what the service knows of it. */
import { useEffect, useState } from 'react';
import type { Client } from '../client/client.ts';
import { InterludeError } from '../client/interlude-error.ts';
import { conversationInAddress, putInAddress } from './address.ts';

export type Opened =
  /** It is in the address; whether there is such a one is being asked. */
  | { kind: 'looking'; conversation: string }
  /** `isMissing`: in place of one that is not there, or somebody else's. */
  | { kind: 'new'; agent?: string; isMissing?: boolean }
  /** `agent` is absent where nobody could say. */
  | { kind: 'begun'; conversation: string; agent?: string };

export function useOpened(client: Client): [Opened, (opened: Opened) => void] {
  const [opened, setOpened] = useState<Opened>(fromAddress);

  useEffect(() => {
    // Another one was written over it, or chosen from the history.
    const changed = () => setOpened(fromAddress());
    addEventListener('hashchange', changed);
    return () => removeEventListener('hashchange', changed);
  }, []);

  useEffect(() => {
    if (opened.kind !== 'looking') return undefined;
    const leaving = new AbortController();
    void look(client, opened.conversation, leaving.signal).then((found) => {
      if (!leaving.signal.aborted) show(found);
    });
    return () => leaving.abort();
  }, [client, opened]);

  function show(next: Opened) {
    putInAddress(next.kind === 'new' ? undefined : next.conversation);
    setOpened(next);
  }

  return [opened, show];
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
    // The chat says what is wrong, and offers another attempt.
    return { kind: 'begun', conversation };
  }
}
