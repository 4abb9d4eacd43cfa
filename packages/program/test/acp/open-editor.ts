/** Editors at a service of the tests, with the agent in this process. */
import { createAgentV1 } from '../../src/acp/agent-v1.ts';
import type { ConnectionParts } from '../../src/acp/connection.ts';
import { Identity } from '../../src/acp/identity.ts';
import { createKeptLogins } from '@interlude-ai/kit/terminal/kept-files.ts';
import type { Service } from '../../../../test/service/service.ts';
import { playEditor } from './editor.ts';
import type { EditorOptions, PlayedEditor } from './editor.ts';

export interface Opening extends EditorOptions {
  as?: string;
  /** The service's address, where a proxy is in between. */
  at?: string;
}

export async function partsFor(
  service: Service,
  { as = 'alice', at = service.baseUrl }: Opening = {},
): Promise<ConnectionParts> {
  const identity = new Identity({
    service: at,
    logins: createKeptLogins('/nowhere'),
    token: await service.token(as),
    tokenFile: undefined,
    as: undefined,
    say: () => undefined,
  });
  return { service: at, identity, agent: 'assistant', version: '1' };
}

/** Its conversations end with the service. */
export async function openEditor(service: Service, options: Opening = {}): Promise<PlayedEditor> {
  const editor = await playEditor(createAgentV1(await partsFor(service, options)), options);
  const { newSession } = editor;
  return Object.assign(editor, {
    async newSession() {
      const id = await newSession();
      service.begun(id);
      return id;
    },
  });
}
