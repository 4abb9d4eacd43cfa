/** `interlude answer`: answers the questions to one user as they come, in tests and in automation. */
import { Command } from '@commander-js/extra-typings';
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { duration } from '@interlude-ai/kit/terminal/command.ts';
import { sourceOptions } from '@interlude-ai/kit/try/try-options.ts';
import type { GivenSource } from '@interlude-ai/kit/try/try-options.ts';
import { demoUserOption, readService, serviceOption, tokenOption } from './service-options.ts';

export function answer(): CommandUnknownOpts {
  const sources: GivenSource[] = [];
  const command = new Command('answer')
    .description('answer the questions to one user, from a file or by a program')
    .option(
      '--for <user>',
      'the user whose questions to answer; needs an API key that acts for users (INTERLUDE_TOKEN)',
    );
  return sourceOptions(command, sources)
    .option('--prompt', 'ask in this terminal what nothing else answers')
    .option('--decline', 'decline what nothing else answers')
    .option('--once', 'end when a question was answered and no other is open')
    .option('--timeout <duration>', 'end when nothing was asked for this long, like 60s', duration)
    .addOption(serviceOption)
    .addOption(tokenOption)
    .addOption(demoUserOption)
    .option('--json', 'for programs: one line of JSON for each question')
    .addHelpText(
      'after',
      `
Answers what agents ask this user in all conversations, including the questions
that are open already. An answer that does not fit is not sent; the question
stays open for a person. The audit records what gave each answer.

Exit codes: 0 every question was answered, 2 wrong command line, 3 a question
was left open or an answer not confirmed, 5 nothing was asked in time.`,
    )
    .action(async (values) => {
      const { answerQuestions } = await import('../chat/run-answer.ts');
      process.exitCode = await answerQuestions(
        sources,
        { ...values, url: readService(values.service) },
        process.env,
      );
    });
}
