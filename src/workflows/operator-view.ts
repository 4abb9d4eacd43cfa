/** What operators see of a running agent in Temporal's UI: ids, names and times, no text of anybody's. */
import { setCurrentDetails, upsertSearchAttributes } from '@temporalio/workflow';
import type { Mode } from '../elicitation/elicitation.ts';
import type { Elicitation } from '../elicitation/lifecycle.ts';
import type { ToolCall } from '../turn/tool-call.ts';
import type { TurnEndStatus } from '../turn/turn.ts';
import { searchAttributes } from './messages.ts';

export function showModelStep(step: string): void {
  setCurrentDetails(`${step}: thinking`);
}

export function showCalls(step: string, calls: ToolCall[]): void {
  setCurrentDetails(`${step}: ${calls.map(nameOf).join(', ')}`);
}

function nameOf(call: ToolCall): string {
  switch (call.kind) {
    case 'server':
      return call.toolName;
    case 'question':
      return 'a question to the user';
    case 'delegated':
      return `delegated to ${call.agent}`;
    case 'durable':
      return call.toolName;
    default:
      return call satisfies never;
  }
}

/** `delegates` are the names of the other agents that wait. */
export function showPhase(phase: 'working' | 'waiting', open: Elicitation[], delegates: string[]): void {
  const waits = [...open.map(describe), ...delegates.map(describeDelegate)];
  setCurrentDetails(phase === 'waiting' ? waits.join('\n') : 'working');
  upsertSearchAttributes([
    { key: searchAttributes.status, value: phase === 'waiting' ? 'waiting_input' : 'running' },
    { key: searchAttributes.waitingFor, value: open[0]?.server ?? null },
  ]);
}

/** For a completed turn, Temporal's own status is enough. */
export function showEnd(status: TurnEndStatus): void {
  setCurrentDetails(status);
  if (status === 'completed') return;
  upsertSearchAttributes([
    { key: searchAttributes.status, value: status },
    { key: searchAttributes.waitingFor, value: null },
  ]);
}

/** What a question asks its user to do. */
export function requestedAction({ mode, server, isConnection }: Requested): string {
  if (isConnection) return `connect ${server}`;
  return mode === 'url' ? `open a page of ${server}` : `answer ${server}`;
}

interface Requested {
  mode: Mode;
  server: string;
  isConnection: boolean;
}

function describe({ id, mode, server, connection, deadline }: Elicitation): string {
  const action = requestedAction({ mode, server: `**${server}**`, isConnection: connection !== undefined });
  return `- waiting for the user to ${action}, until ${new Date(deadline).toISOString()} (question \`${id}\`)`;
}

function describeDelegate(agent: string): string {
  return `- **${agent}** has a task and waits for the user`;
}
