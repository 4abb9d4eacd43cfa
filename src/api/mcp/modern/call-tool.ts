/** A tool call of the 2026-07-28 revision: what the tool layer says of it, as a result. */
import type { CallToolResult, InputRequiredResult } from '@modelcontextprotocol/server';
import type { ToolLayer } from '../tools/tool-layer.ts';
import { errorResult } from '../tools/tool.ts';
import type { Caller, ToolCall } from '../tools/tool.ts';

interface Called {
  caller: Caller;
  call: ToolCall;
  signal: AbortSignal;
}

/** Null when there is no such tool. */
export async function callTool(
  layer: ToolLayer,
  { caller, call, signal }: Called,
): Promise<CallToolResult | InputRequiredResult | null> {
  const started = await layer.start(caller, call);
  if (started === null) return null;
  if (started.kind === 'result') return { ...started.result };
  const stage = await layer.follow(started.turn, { signal, holdMs: 50_000 });
  if (stage.kind === 'done') return { ...stage.result };
  return { ...errorResult('not yet') };
}
