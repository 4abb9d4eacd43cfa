/** `interlude audit export` and `interlude audit verify`. */
import { Command, InvalidArgumentError, Option } from '@commander-js/extra-typings';
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { group, UsageError } from '@interlude-ai/kit/terminal/command.ts';
import type { VerifiedPart } from '../audit/verify-audit.ts';
import { counted, plain, print, printAside } from '@interlude-ai/kit/terminal/terminal-text.ts';
import { onStorage } from './open-service.ts';

export function audit(): CommandUnknownOpts {
  const exported = new Command('export')
    .description('write the audit as NDJSON to standard output, so that it can be verified')
    .addOption(new Option('--from <time>', 'sealed at this time or later, like 2026-11-01').argParser(time))
    .addOption(new Option('--to <time>', 'sealed before this time').argParser(time))
    .option('--tenant <tenant>', 'of this tenant only')
    .addHelpText(
      'after',
      `
Entries are sealed seconds after they were made. Times are dates or like
2026-11-01T12:00:00Z; dates begin at midnight UTC. An entry whose contents were
deleted has "entry": null. Needs the environment of a process.`,
    )
    .action(async (options) => {
      const { exportAudit } = await import('../audit/export-audit.ts');
      await onStorage(async (storage) => {
        const { entries, deleted } = await exportAudit(storage, options, process.stdout);
        printAside(`Entries: ${entries}. With deleted contents: ${deleted}.\n`);
      });
    });
  const verify = new Command('verify')
    .description('check that exports of the audit are complete and unchanged')
    .argument('<files...>', 'exports, the oldest first')
    .addHelpText(
      'after',
      `
Later files have to agree with earlier ones: keep each export where the
service's operators cannot change it. Needs no database.

Exit codes: 0 they are, 1 they are not, 2 wrong command line.`,
    )
    .action(async (files) => {
      const { AuditBroken, verifyFile } = await import('../audit/verify-audit.ts');
      const known = new Map();
      try {
        for (const file of files) {
          const parts = await verifyFile(file, known);
          print(`${file}: unchanged\n${parts.map((part) => `${partInWords(part)}\n`).join('')}`);
        }
      } catch (error) {
        if (error instanceof Error && 'code' in error && error.code === 'ENOENT')
          throw new UsageError(error.message, { cause: error });
        if (!(error instanceof AuditBroken)) throw error;
        printAside(`${plain(error.message)}\n`);
        process.exitCode = 1;
      }
    });
  return group('audit', 'what people and operators did: export, verify', [exported, verify]);
}

function partInWords({ tenant, first, last, deleted, chain, continues }: VerifiedPart): string {
  return [
    `  ${tenant || '(no tenant)'}  ${counted(last - first + 1, 'position')}, ${first} to ${last}`,
    deleted > 0 && `${deleted} with deleted contents`,
    continues !== null && `agrees with ${continues}`,
    `chain ${chain.slice(0, 16)}…`,
  ]
    .filter(Boolean)
    .join(' · ');
}

/** In epoch milliseconds. */
function time(text: string): number {
  const at = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d))?$/.test(text)
    ? Date.parse(text)
    : NaN;
  if (Number.isNaN(at))
    throw new InvalidArgumentError('Write for example 2026-11-01 or 2026-11-01T12:00:00Z.');
  return at;
}
