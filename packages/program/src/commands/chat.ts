/** `interlude chat`: talk to an agent in the terminal, or read messages from a pipe, one per line. */
import { Command, InvalidArgumentError } from '@commander-js/extra-typings';
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { repeated } from '@interlude-ai/kit/terminal/command.ts';
import { ourCommand } from '@interlude-ai/kit/terminal/program-command.ts';
import { demoUserOption, readService, tokenOption, urlOption } from './service-options.ts';

export function chat(): CommandUnknownOpts {
  return new Command('chat')
    .description('talk to an agent in the terminal')
    .addOption(demoUserOption)
    .option('--agent <name>', 'which agent to talk to (default: the first one)')
    .option('--conversation <id>', 'go on with an earlier conversation', conversationId)
    .option(
      '--answers <file>',
      'answer questions from this file (YAML); only the others are asked; may be repeated',
      repeated,
    )
    .addOption(urlOption)
    .addOption(tokenOption)
    .addHelpText(
      'after',
      `
Messages can also come from a pipe, one per line. Without a token it uses the
login of ${ourCommand('login')}; at the demo, alice.`,
    )
    .action(async ({ url: given, token, ...rest }) => {
      const { runChat } = await import('../chat/run-chat.ts');
      const { env } = process;
      const options = { ...rest, url: readService(given), token: token ?? env['INTERLUDE_TOKEN'], env };
      if (!(await runChat(options))) process.exitCode = 1;
    });
}

function conversationId(text: string): string {
  if (/^[A-Za-z0-9._:-]{1,128}$/.test(text)) return text;
  throw new InvalidArgumentError('An id has 1–128 characters of A-Z, a-z, 0-9, ".", "_", ":" and "-".');
}
