/** Questions that send their user to a page of a tool's author, which reports when it is done. */
import type { ElicitationRow } from '../storage/ports/elicitations.ts';

export function isToolPage({ request }: Pick<ElicitationRow, 'request'>): boolean {
  return request.mode === 'url' && request.context.trigger === 'tool_elicitation';
}
