/** `interlude try` and `interlude lint-server`. */
import { Argument, Command, Help, Option } from '@commander-js/extra-typings';
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { didYouMean } from '@interlude-ai/core/nearest-spelling.ts';
import { count, repeated } from '../terminal/command.ts';
import { ourCommand } from '../terminal/program-command.ts';
import { interruptSignal } from '../try/exit-codes.ts';
import type { Surroundings } from '../try/at-server.ts';
import { connectionOptions, sourceOptions } from '../try/try-options.ts';
import type { GivenSource } from '../try/try-options.ts';

export function tryServer(surroundings = ofProcess): CommandUnknownOpts {
  const sources: GivenSource[] = [];
  const command = commandAtServer('try')
    .description('call a tool of any MCP server, and answer what it asks')
    .option('--tool <name>', 'call this tool; without it, the tools are listed')
    .option('--args <key=value | JSON>', 'its arguments; may be repeated', repeated);
  const answering = sourceOptions(command, sources)
    .option('--prompt', 'ask in this terminal; the default if there is one')
    .option('--decline', 'decline what nothing else answers')
    .addOption(new Option('--max-rounds <number>', 'how often it may ask').argParser(count).default(5));
  return connectionOptions(answering, '60s')
    .option('--record <cassette>', 'record the session in this file')
    .option('--replay <cassette>', 'make the recorded calls again, and show what the server says differently')
    .option('--json', 'for programs: one object on standard output')
    .addHelpText(
      'after',
      `
A command comes last, best after --, with options of its own:
${ourCommand('try --tool book -- node server.js')}
Sources of answers are tried in the order given. If none of them answers,
nothing is sent.

Exit codes: 0 done, 1 the tool failed, 2 wrong command line or no such server,
3 a question was not answered, 4 the server breaks the protocol, 5 it sent
nothing for too long. More: docs/testing-servers.md`,
    )
    .action(async (words, values, self) => {
      checkOptions(words, self);
      const { tryWith } = await import('../try/run-try.ts');
      const around = surroundings();
      around.end(await tryWith(words, sources, values, around));
    });
}

export function lintServer(surroundings = ofProcess): CommandUnknownOpts {
  const sources: GivenSource[] = [];
  const command = commandAtServer('lint-server')
    .description('check how the tools of an MCP server ask, and what clients will stumble over')
    .option('--calls <file>', 'the arguments to call the tools with (YAML)')
    .option(
      '--tool <name>',
      'call this tool, even if it does not say that it asks; may be repeated',
      repeated,
    )
    .option('--all', 'call all tools, even those that do not say that they ask');
  return connectionOptions(sourceOptions(command, sources), '20s')
    .option('--strict', 'exit with 1 for warnings, too')
    .option('--json', 'for programs: one object on standard output')
    .addHelpText(
      'after',
      `
Calls the tools whose description says that they ask; declines and cancels their
questions, and answers those that --answers answers. Tools that need arguments
get those of --calls. Destructive ones are only called when they are named.

Exit codes: 0 nothing found but warnings, 1 errors (with --strict also
warnings), 2 wrong command line or no such server, 3 no tool asked anything,
4 the server does not complete the handshake, 5 it stays silent.
More: docs/testing-servers.md`,
    )
    .action(async (words, values, self) => {
      checkOptions(words, self);
      const { lintWith } = await import('../lint/run-lint.ts');
      const around = surroundings();
      around.end(await lintWith(words, sources, values, around));
    });
}

/** A command line of the server may follow, so unknown options are no mistake for commander. */
function commandAtServer(name: string) {
  return new Command(name)
    .addArgument(new Argument('<url | command...>'))
    .allowUnknownOption()
    .helpOption(false)
    .configureHelp({
      visibleOptions: (command) => [...new Help().visibleOptions(command), helpOption],
    });
}

const helpOption = new Option('-h, --help', 'display help for command');

/** Before a command, and at an address, all options are ours. */
function checkOptions([first = '', ...more]: string[], command: CommandUnknownOpts): void {
  const ours = [first, ...(/^https?:/i.test(first) ? more : [])].filter((word) => word.startsWith('-'));
  if (ours.some((word) => ['-h', '--help'].includes(word))) command.help();
  const [unknown] = ours.map((word) => word.replace(/=[^]*/, ''));
  if (unknown === undefined) return;
  const known = command.options.map(({ long }) => long ?? '');
  command.error(`error: unknown option '${unknown}'${didYouMean(unknown, known)}`);
}

function ofProcess(): Surroundings {
  const { stdin, stdout, stderr, env } = process;
  return {
    stdin,
    stdout,
    stderr,
    env,
    signal: interruptSignal(),
    end: (code) => void (process.exitCode = code),
  };
}
