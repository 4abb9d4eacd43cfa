/** Commands that work without the service on the same machine: they are also in the published package. */
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { acp } from './commands/acp.ts';
import { answer } from './commands/answer.ts';
import { chat } from './commands/chat.ts';
import { login, logout, token } from './commands/login.ts';
import { mcp } from './commands/mcp.ts';
import { replay } from '@interlude-ai/kit/commands/replay.ts';
import { lintServer, tryServer } from '@interlude-ai/kit/commands/try.ts';

export const interlude = {
  name: 'interlude',
  description: 'Agent turns that can stop, ask a person, and go on.',
};

export function clientCommands(): CommandUnknownOpts[] {
  return [chat(), answer(), login(), logout(), token(), mcp(), acp(), tryServer(), lintServer(), replay()];
}
