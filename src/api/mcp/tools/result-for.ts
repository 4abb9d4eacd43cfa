/** In which form a call that is over is answered. Pure. */
import { fallbackTool } from './fallback.ts';
import type { CallStage } from './follow-call.ts';
import type { ToolResult } from './tool.ts';

/**
 * Whoever called a tool, or answered its question, gets the result in the tool's own form; whoever waits for its turn, in a
 * turn's.
 */
export function resultFor(
  { direct, result }: Extract<CallStage, { kind: 'done' }>,
  tool: string,
): ToolResult {
  return direct && (direct.tool === tool || tool === fallbackTool) ? direct.result : result;
}
