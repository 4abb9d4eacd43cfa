/** `interlude acp`: an agent of a service inside an editor that speaks the Agent Client Protocol. */
import { once } from 'node:events';
import { Command } from '@commander-js/extra-typings';
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import type { createHttpServer } from '../acp/serve.ts';
import { port } from '@interlude-ai/kit/terminal/command.ts';
import { ourCommand, programVersion } from '@interlude-ai/kit/terminal/program-command.ts';
import { printAside } from '@interlude-ai/kit/terminal/terminal-text.ts';
import { demoUserOption, readService, serviceOption } from './service-options.ts';

export function acp(): CommandUnknownOpts {
  return new Command('acp')
    .description('run an agent inside an editor that speaks the Agent Client Protocol')
    .option('--agent <name>', 'the agent of new sessions (default: the first one)')
    .addOption(serviceOption)
    .option('--token-file <file>', 'a file with an API token, instead of your login')
    .addOption(demoUserOption)
    .option('--draft', 'also speak ACP v2, with clients that ask for it')
    .option(
      '--listen <port>',
      'serve HTTP and WebSocket on this port of 127.0.0.1 instead of stdio; clients send their token',
      port,
    )
    .addHelpText(
      'after',
      `
For the configuration of an editor, which starts it and speaks to it on stdin
and stdout. It acts as you: with INTERLUDE_TOKEN, or with the login of
${ourCommand('login')}, which the editor can also start; at the demo, as alice.
--draft and --listen are experiments of the protocol.`,
    )
    .action(async ({ agent, service: given, tokenFile, as, draft = false, listen }) => {
      const [acpServer, { Identity }, { createKeptLogins, loginsFolder }, { serviceAddress }] =
        await Promise.all([
          import('../acp/serve.ts'),
          import('../acp/identity.ts'),
          import('@interlude-ai/kit/terminal/kept-files.ts'),
          import('../login/sign-in-server.ts'),
        ]);
      const service = serviceAddress(readService(given));
      const common = { service, agent, version: programVersion() };
      const user = { service, logins: createKeptLogins(loginsFolder(process.env)), say: printAside };
      if (listen !== undefined) {
        const server = acpServer.createHttpServer({
          service,
          createAgent(theirs, connections) {
            const identity = new Identity({ ...user, token: theirs, tokenFile: undefined, as: undefined });
            return acpServer.createAgent({ ...common, identity, connections }, { draft });
          },
        });
        return listenOn(listen, server);
      }
      const token = process.env['INTERLUDE_TOKEN'];
      // Child processes do not inherit it, and no report of this process shows it.
      delete process.env['INTERLUDE_TOKEN'];
      const identity = new Identity({ ...user, token, tokenFile, as });
      await acpServer.serveStdio(acpServer.createAgent({ ...common, identity }, { draft }));
    });
}

async function listenOn(at: number, created: ReturnType<typeof createHttpServer>): Promise<void> {
  const server = created.listen(at, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  printAside(`ACP at http://127.0.0.1:${typeof address === 'object' ? address?.port : at}\n`);
  await once(server, 'close');
}
