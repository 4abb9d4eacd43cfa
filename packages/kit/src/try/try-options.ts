/** Options that `try`, `lint-server` and `answer` share. */
import { InvalidArgumentError, Option } from '@commander-js/extra-typings';
import type { Command, OptionValues } from '@commander-js/extra-typings';
import type { Capabilities } from '@interlude-ai/core/elicitation/elicitation.ts';
import { duration, repeated } from '../terminal/command.ts';

/** How to connect to a server, and how long it may take. */
export function connectionOptions<Args extends unknown[], Opts extends OptionValues>(
  command: Command<Args, Opts>,
  timeout: string,
) {
  return command
    .addOption(
      new Option('--timeout <duration>', 'how long the server may stay silent')
        .argParser(duration)
        .default(duration(timeout), timeout),
    )
    .addOption(
      new Option('--max-time <duration>', 'how long a call may take in all, questions not counted')
        .argParser(duration)
        .default(duration('10m'), '10m'),
    )
    .addOption(
      new Option('--era <era>', 'which MCP to speak: modern is 2026-07-28, legacy is older, auto finds out')
        .choices(['auto', 'modern', 'legacy'])
        .default('auto' as const),
    )
    .addOption(
      new Option(
        '--can <form,url>',
        'the questions it declares that it can show: form,url, form, url or none',
      )
        .argParser(readCan)
        .default(readCan('form,url'), 'form,url'),
    )
    .option('--token <token>', 'the token that the server wants (default: INTERLUDE_TRY_TOKEN)')
    .option('--client-id <id>', 'the OAuth client to sign in as, if this program cannot register itself')
    .option('--header <name: value>', 'sent with every request; may be repeated', repeated);
}

function readCan(text: string): Capabilities {
  const words = text === 'none' ? [] : text.split(',').map((word) => word.trim());
  if (words.some((word) => word !== 'form' && word !== 'url'))
    throw new InvalidArgumentError('There is form, url and none.');
  return { form: words.includes('form'), url: words.includes('url') };
}

/** A source of answers on the command line. */
export interface GivenSource {
  from: 'answers' | 'responder' | 'prompt' | 'decline';
  /** A file or an address. */
  value: string;
}

/** Adds the sources to `given` in the order of the command line, which is the order in which they are tried. */
export function sourceOptions<Args extends unknown[], Opts extends OptionValues>(
  command: Command<Args, Opts>,
  given: GivenSource[],
) {
  for (const from of ['answers', 'responder', 'prompt', 'decline'] as const)
    command.on(`option:${from}`, (value = '') => void given.push({ from, value: String(value) }));
  return command
    .option('--answers <file>', 'answer from a file (YAML); may be repeated')
    .option('--responder <url>', 'answer from a program that is asked over HTTP; may be repeated')
    .option(
      '--responder-header <name: value>',
      'sent with every request to a responder; may be repeated',
      repeated,
    )
    .addOption(
      new Option('--responder-timeout <duration>', 'how long a responder may take')
        .argParser(duration)
        .default(duration('30s'), '30s'),
    );
}
