/** `interlude audit export`: the audit as NDJSON, which `interlude audit verify` checks. The format: docs/operators.md. */
import { once } from 'node:events';
import type { Storage } from '../../storage/storage.ts';
import { toJsonText } from '@interlude-ai/kit/terminal/terminal-text.ts';

/** Of the first line. */
export const format = 'interlude-audit-1';

interface ExportOptions {
  tenant?: string | undefined;
  /** Epoch milliseconds. */
  from?: number | undefined;
  to?: number | undefined;
}

/** Also seals what was not sealed yet. Resolves with the numbers of the last line. */
export async function exportAudit(
  { auditChain }: Pick<Storage, 'auditChain'>,
  options: ExportOptions,
  out: NodeJS.WritableStream,
): Promise<{ entries: number; deleted: number }> {
  while ((await auditChain.seal()) > 0);
  const { tenant = null, from, to } = options;
  await writeLine(out, { format, tenant, from: inIso(from), to: inIso(to) });
  let [entries, deleted] = [0, 0];
  for await (const line of auditChain.read(options)) {
    await writeLine(out, line);
    entries += 1;
    if (line.entry === null) deleted += 1;
  }
  await writeLine(out, { entries, deleted });
  return { entries, deleted };
}

function inIso(at: number | undefined): string | null {
  return at === undefined ? null : new Date(at).toISOString();
}

/** Waits for a slow reader. */
export async function writeLine(out: NodeJS.WritableStream, line: object): Promise<void> {
  if (!out.write(`${toJsonText(line)}\n`)) await once(out, 'drain');
}
