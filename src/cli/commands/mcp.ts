/** `interlude mcp`: the agents of a service as an MCP server on stdio, for editors and desktop programs. */
import { defineCommand } from '../command.ts';
import { findToken } from '../login/find-token.ts';
import { createKeptLogins, loginsFolder } from '../login/kept-logins.ts';
import { serviceAddress } from '../login/sign-in-server.ts';
import { serveStdio } from '../mcp/bridge.ts';
import { readService, serviceOption } from './service-option.ts';

export const mcp = defineCommand({
  arguments: [],
  options: {
    agent: { type: 'string', value: '<name>', description: 'offer this agent only (all of them)' },
    service: serviceOption,
    as: { type: 'string', value: '<user>', description: 'demo user: alice or bob' },
  },
  details:
    'For the configuration of an MCP client, which starts it. It acts as you: with INTERLUDE_TOKEN, or with the login that interlude login keeps; at the demo, as alice.',
  async run({ agent, service: given, as }) {
    const service = serviceAddress(readService(given));
    const logins = createKeptLogins(loginsFolder(process.env));
    const tokens = await findToken(logins, { service, token: process.env['INTERLUDE_TOKEN'], as });
    const address = new URL(`${service}/run/v1/mcp`);
    if (agent !== undefined) address.searchParams.set('agent', agent);
    await serveStdio({ address: address.href, tokens, input: process.stdin, output: process.stdout });
  },
});
