/** What the versions of the protocol share on one connection: who its user is, and their sessions. */
import { createClient } from '../../client/client.ts';
import type { Editor } from './editor.ts';
import type { Identity } from './identity.ts';
import { Sessions } from './sessions.ts';

export interface ConnectionParts {
  /** The service's address, without a slash at the end. */
  service: string;
  identity: Identity;
  /** Whom new sessions talk to. */
  agent: string | undefined;
  /** Of this program. */
  version: string;
}

/**
 * Links are asked about only where the editor can open one: elsewhere the service fails closed, and says where accounts are
 * connected. Forms always, because approvals are one: every editor can ask for those, and a form without a dialog is put
 * in words.
 */
export function openSessions({ service, identity, agent }: ConnectionParts, editor: Editor): Sessions {
  const client = createClient({
    baseUrl: service,
    token: () => identity.token(),
    capabilities: { form: true, url: editor.modes.url },
  });
  return new Sessions({ client, editor, service, agent });
}
