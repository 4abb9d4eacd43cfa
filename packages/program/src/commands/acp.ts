/** `interlude acp`: an agent of a service inside an editor that speaks the Agent Client Protocol. */
import { once } from 'node:events';
import { Identity } from '../acp/identity.ts';
import { createAgent, createHttpServer, serveStdio } from '../acp/serve.ts';
import { defineCommand } from '@interlude-ai/kit/terminal/command.ts';
import { createKeptLogins, loginsFolder } from '@interlude-ai/kit/terminal/kept-files.ts';
import { serviceAddress } from '../login/sign-in-server.ts';
import { ourCommand, programVersion } from '@interlude-ai/kit/terminal/program-command.ts';
import { printAside } from '@interlude-ai/kit/terminal/terminal-text.ts';
import {
  demoUserOption,
  readPort,
  readService,
  serviceOption,
} from '@interlude-ai/kit/terminal/option-values.ts';

export const acp = defineCommand({
  arguments: [],
  options: {
    agent: {
      type: 'string',
      value: '<name>',
      description: 'the agent of new sessions (default: the first one)',
    },
    service: serviceOption,
    'token-file': {
      type: 'string',
      value: '<file>',
      description: 'a file with an API token, instead of your login',
    },
    as: demoUserOption,
    draft: { type: 'boolean', description: 'also speak ACP v2, with clients that ask for it' },
    listen: {
      type: 'string',
      value: '<port>',
      description:
        'serve HTTP and WebSocket on this port of 127.0.0.1 instead of stdio; clients send their token',
    },
  },
  details: `For the configuration of an editor, which starts it and speaks to it on stdin and stdout. It acts as you: with INTERLUDE_TOKEN, or with the login of ${ourCommand('login')}, which the editor can also start; at the demo, as alice. --draft and --listen are experiments of the protocol.`,
  async run({ agent, service: given, 'token-file': tokenFile, as, draft, listen }) {
    const service = serviceAddress(readService(given));
    const common = { service, agent, version: programVersion() };
    const user = { service, logins: createKeptLogins(loginsFolder(process.env)), say: printAside };
    if (listen !== undefined)
      return listenOn(readPort('--listen', listen), {
        service,
        createAgent(theirs, connections) {
          const identity = new Identity({ ...user, token: theirs, tokenFile: undefined, as: undefined });
          return createAgent({ ...common, identity, connections }, { draft });
        },
      });
    const token = process.env['INTERLUDE_TOKEN'];
    // Child processes do not inherit it, and no report of this process shows it.
    delete process.env['INTERLUDE_TOKEN'];
    const identity = new Identity({ ...user, token, tokenFile, as });
    await serveStdio(createAgent({ ...common, identity }, { draft }));
  },
});

async function listenOn(port: number, parts: Parameters<typeof createHttpServer>[0]): Promise<void> {
  const server = createHttpServer(parts).listen(port, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  printAside(`ACP at http://127.0.0.1:${typeof address === 'object' ? address?.port : port}\n`);
  await once(server, 'close');
}
