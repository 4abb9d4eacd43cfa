/** `interlude doctor`: whether a deploy is safe now, what it would affect, and what to mend first. */
import { Command, Option } from '@commander-js/extra-typings';
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { processKinds } from './check.ts';
import { duration } from '@interlude-ai/kit/terminal/command.ts';
import { print, toJsonText } from '@interlude-ai/kit/terminal/terminal-text.ts';
import { interruptSignal } from '@interlude-ai/kit/try/exit-codes.ts';

export function doctor(): CommandUnknownOpts {
  return new Command('doctor')
    .description('check everything that the service needs, and say whether a deploy is safe now')
    .addOption(
      new Option(
        '--for <process>',
        'the process to check the settings for (default: server, or start without TEMPORAL_ADDRESS)',
      ).choices(processKinds),
    )
    .addOption(
      new Option('--timeout <duration>', 'how long a server of the agents file may take')
        .argParser(duration)
        .default(10_000, '10s'),
    )
    .option('--json', 'for programs: one object on standard output')
    .addHelpText(
      'after',
      `
Run it with the environment of a process, before a deploy with the new image. It
changes nothing. It includes config check and agents check.

Exit codes: 0 a deploy is safe, 1 it is not, 2 wrong command line.
More: docs/doctor.md`,
    )
    .action(async ({ for: given, timeout: timeoutMs, json = false }) => {
      const [{ diagnose }, { areaLines, endLines }] = await Promise.all([
        import('../doctor/diagnose.ts'),
        import('../doctor/doctor-report.ts'),
      ]);
      const { env } = process;
      const kind = given ?? (env['TEMPORAL_ADDRESS'] ? 'server' : 'start');
      const show = (lines: string[]) => print(lines.map((line) => `${line}\n`).join(''));
      if (!json) show(['']);
      const diagnosis = await diagnose({
        env,
        cwd: process.cwd(),
        kind,
        timeoutMs,
        signal: interruptSignal(),
        ...(!json && { onArea: (area) => show(areaLines(area)) }),
      });
      const exitCode = diagnosis.errors > 0 ? 1 : 0;
      if (json) print(`${toJsonText({ ...diagnosis, isSafe: exitCode === 0, exitCode }, 2)}\n`);
      else show(endLines(diagnosis));
      process.exitCode = exitCode;
    });
}
