/** `interlude acp`: an agent of a service inside an editor that speaks the Agent Client Protocol. */
import { createAgentV1 } from '../acp/agent-v1.ts';
import { createIdentity } from '../acp/identity.ts';
import { serveStdio } from '../acp/serve-stdio.ts';
import { defineCommand } from '../command.ts';
import { createKeptLogins, loginsFolder } from '../login/kept-logins.ts';
import { serviceAddress } from '../login/sign-in-server.ts';
import { programVersion } from '../program-version.ts';
import { readService, serviceOption } from './service-option.ts';

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
  },
  details:
    'For the configuration of an editor, which starts it and speaks to it on stdin and stdout. It acts as you: with INTERLUDE_TOKEN, or with the login that interlude login keeps and the editor can ask for; at the demo, as alice.',
  async run({ agent, service: given, 'token-file': tokenFile, as }) {
    const service = serviceAddress(readService(given));
    const identity = createIdentity({
      service,
      logins: createKeptLogins(loginsFolder(process.env)),
      token: process.env['INTERLUDE_TOKEN'],
      tokenFile,
      as,
      say: (text) => void process.stderr.write(text),
    });
    await serveStdio(createAgentV1({ service, identity, agent, version: programVersion() }));
  },
});
