/** The conversation that the page shows, and what the service knows of it. */
import { useCallback, useEffect, useState } from 'react';
import type { Client } from '../client/client.ts';
import { InterludeError } from '../client/interlude-error.ts';
import { conversationInAddress, leaveAddress, putInAddress } from './address.ts';

export type Opened =
  /** It is in the address; whether there is such a one is being asked. */
  | { kind: 'looking'; conversation: string }
  /** `isMissing`: in place of one that is not there, or somebody else's. */
  | { kind: 'new'; agent?: string; isMissing?: boolean }
  /** `agent` is absent where nobody could say. */
  | { kind: 'begun'; conversation: string; agent?: string };

interface OpenedConversation {
  opened: Opened;
  startAnew(agent: string | undefined): void;
  /** The service has it now. */
  begun(conversation: string): void;
}

export function useOpened(client: Client): OpenedConversation {
  const [opened, setOpened] = useState<Opened>(fromAddress);

  useEffect(() => {
    // Another one was written over it, or chosen from the history.
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
    // The chat says what is wrong, and offers another attempt.
    return { kind: 'begun', conversation };
  }
}
