/** One workflow's history as a file, without what tells where it was recorded. */
import { writeFile } from 'node:fs/promises';
import type { WorkflowHandle } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';

type History = Awaited<ReturnType<WorkflowHandle['fetchHistory']>>;

export async function writeHistory(file: string, history: History): Promise<void> {
  await writeFile(file, `${anonymous(historyToJSON(history))}\n`);
}

/** Without process and host, and folders in traces; replaying does not read it. */
function anonymous(history: string): string {
  const value: unknown = JSON.parse(history, (key, member: unknown) => {
    if (key === 'stackTrace') return '';
    return typeof member === 'string' && /^\d+@/.test(member) ? 'recorder' : member;
  });
  return JSON.stringify(value, null, 1);
}
