/** `interlude acp`: an agent of a service inside an editor that speaks the Agent Client Protocol. */
import { once } from 'node:events';
import { createAgent } from '../acp/agent.ts';
import { createIdentity } from '../acp/identity.ts';
import type { Identity } from '../acp/identity.ts';
import { createHttpServer } from '../acp/serve-http.ts';
import { serveStdio } from '../acp/serve-stdio.ts';
import { defineCommand, UsageError } from '../command.ts';
import { createKeptLogins, loginsFolder } from '../login/kept-logins.ts';
import { serviceAddress } from '../login/sign-in-server.ts';
import { programVersion } from '../program-version.ts';
import { readService, serviceOption } from './service-option.ts';
import { printAside } from '../terminal-text.ts';

export const acp = defineCommand({
  arguments: [],
  options: {
    agent: { type: 'string', value: '<name>', description: 'whom new sessions talk to (the first one)' },
    service: serviceOption,
    'token-file': {
      type: 'string',
      value: '<file>',
      description: 'where an API token is, instead of your login',
    },
    as: { type: 'string', value: '<user>', description: 'demo user: alice or bob' },
    draft: { type: 'boolean', description: 'speak ACP v2, too, to clients that ask for it' },
    listen: {
      type: 'string',
      value: '<port>',
      description: 'HTTP and WebSocket on this port of 127.0.0.1 instead of stdio; clients bring their token',
    },
  },
  details:
    'For the configuration of an editor, which starts it and speaks to it on stdin and stdout. It acts as you: with INTERLUDE_TOKEN, or with the login that interlude login keeps and the editor can ask for; at the demo, as alice. --draft and --listen are experiments of the protocol.',
  async run({ agent, service: given, 'token-file': tokenFile, as, draft, listen }) {
    const service = serviceAddress(readService(given));
    const common = { service, agent, version: programVersion() };
    const user = { service, logins: createKeptLogins(loginsFolder(process.env)), say: printAside };
    const agentFor = (identity: Identity) => createAgent({ ...common, identity }, { draft });
    if (listen !== undefined) {
      const byToken = (token: string) =>
        agentFor(createIdentity({ ...user, token, tokenFile: undefined, as: undefined }));
      return listenOn(readPort(listen), { service, createAgent: byToken });
    }
    const token = process.env['INTERLUDE_TOKEN'];
    // Nothing that is started from here inherits it, and no report of this process shows it.
    delete process.env['INTERLUDE_TOKEN'];
    await serveStdio(agentFor(createIdentity({ ...user, token, tokenFile, as })));
  },
});

function readPort(given: string): number {
  const port = Number(given);
  if (!/^\d+$/.test(given) || port > 65_535) throw new UsageError(`--listen ${given} is not a port.`);
  return port;
}

async function listenOn(port: number, parts: Parameters<typeof createHttpServer>[0]): Promise<void> {
  const server = createHttpServer(parts).listen(port, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  printAside(`ACP at http://127.0.0.1:${typeof address === 'object' ? address?.port : port}\n`);
  await once(server, 'close');
}
