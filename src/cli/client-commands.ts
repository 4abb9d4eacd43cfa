/** Commands that work without the service on the same machine: they are also in the published package. */
import type { CommandEntry } from './command.ts';

export const clientCommands: CommandEntry[] = [
  {
    name: 'chat',
    summary: 'talk to an agent in the terminal',
    load: async () => (await import('./commands/chat.ts')).chat,
  },
  {
    name: 'answer',
    summary: 'answer the questions of a running service, from a file or by a program',
    load: async () => (await import('./commands/answer.ts')).answer,
  },
  {
    name: 'login',
    summary: 'sign in to a service, for all of these commands',
    load: async () => (await import('./commands/login.ts')).login,
  },
  {
    name: 'logout',
    summary: 'end that login',
    load: async () => (await import('./commands/login.ts')).logout,
  },
  {
    name: 'token',
    summary: 'print an access token for a user of the demo',
    load: async () => (await import('./commands/login.ts')).token,
  },
  {
    name: 'mcp',
    summary: 'be an MCP server on stdio, for editors and desktop programs',
    load: async () => (await import('./commands/mcp.ts')).mcp,
  },
  {
    name: 'acp',
    summary: 'be an agent inside an editor that speaks the Agent Client Protocol',
    load: async () => (await import('./commands/acp.ts')).acp,
  },
  {
    name: 'try',
    summary: 'call a tool of any MCP server, and answer what it asks',
    load: async () => (await import('./commands/try.ts')).tryServer,
  },
  {
    name: 'lint-server',
    summary: 'say what clients will stumble over when the tools of an MCP server ask',
    load: async () => (await import('./commands/try.ts')).lintServer,
  },
  {
    name: 'replay',
    summary: 'be a recorded MCP server, for a client under test',
    load: async () => (await import('./commands/replay.ts')).replayCassette,
  },
  {
    name: 'tools check',
    summary: 'say what tools are in a folder, and what is wrong with them',
    isDefault: true,
    load: async () => (await import('./commands/tools-check.ts')).check,
  },
];
