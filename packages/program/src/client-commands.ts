/** Commands that work without the service on the same machine: they are also in the published package. */
import type { CommandEntry } from '@interlude-ai/kit/terminal/command.ts';

export const clientCommands: CommandEntry[] = [
  {
    name: 'chat',
    summary: 'talk to an agent in the terminal',
    load: async () => (await import('./commands/chat.ts')).chat,
  },
  {
    name: 'answer',
    summary: 'answer the questions to one user, from a file or by a program',
    load: async () => (await import('./commands/answer.ts')).answer,
  },
  {
    name: 'login',
    summary: 'sign in to a service, once for all commands',
    load: async () => (await import('./commands/login.ts')).login,
  },
  {
    name: 'logout',
    summary: 'sign out of a service',
    load: async () => (await import('./commands/login.ts')).logout,
  },
  {
    name: 'token',
    summary: 'print an access token for a user of the demo',
    load: async () => (await import('./commands/login.ts')).token,
  },
  {
    name: 'mcp',
    summary: 'offer the agents as an MCP server on stdio, for editors and desktop programs',
    load: async () => (await import('./commands/mcp.ts')).mcp,
  },
  {
    name: 'acp',
    summary: 'run an agent inside an editor that speaks the Agent Client Protocol',
    load: async () => (await import('./commands/acp.ts')).acp,
  },
  {
    name: 'try',
    summary: 'call a tool of any MCP server, and answer what it asks',
    load: async () => (await import('@interlude-ai/kit/commands/try.ts')).tryServer,
  },
  {
    name: 'lint-server',
    summary: 'check how the tools of an MCP server ask, and what clients will stumble over',
    load: async () => (await import('@interlude-ai/kit/commands/try.ts')).lintServer,
  },
  {
    name: 'replay',
    summary: 'serve a recorded MCP session, to test a client',
    load: async () => (await import('@interlude-ai/kit/commands/replay.ts')).replayCassette,
  },
  {
    name: 'tools check',
    summary: 'check a folder of tools, and list them',
    isDefault: true,
    load: async () => (await import('./commands/tools-check.ts')).check,
  },
];
