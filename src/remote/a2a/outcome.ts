/**
 * What a failed request, or the end of a task, means for the call. As with MCP, the line between "certainly did not run"
 * and "unknown" is drawn here.
 *
 * Results become MCP content blocks, which the rest of the turn uses. Text of the agent is content or quoted, so that it
 * cannot pass for the service's own.
 */
import { A2AError, isJsonRpcError, isRestError, TaskNotFoundError } from '@a2a-js/sdk/errors';
import { TaskState } from '@a2a-js/sdk';
import type { Message, Part, Task } from '@a2a-js/sdk';
import { plainLine } from '@interlude-ai/core/elicitation/plain-text.ts';
import { networkFailure, outcomeWith } from '../network-failure.ts';
import { nameOf } from '../server-name.ts';
import { refusedAccount } from '../request-account.ts';
import type { CallOutcome, Refused } from '../remote-servers.ts';
import type { ConnectedAgent } from './connect.ts';
import { textOf } from '../../api/a2a/vocabulary/parts.ts';

export function isGone(error: unknown): boolean {
  return error instanceof TaskNotFoundError;
}

/** `error`: of a message that was sent or was to be sent. */
export function outcomeOfFailure(agent: ConnectedAgent, error: unknown): CallOutcome {
  const otherwise = fromTrace(agent, error);
  const refused = refusedAccount(agent.last(), agent.credential, otherwise);
  if (!refused) return otherwise;
  // An error message of the agent is about the request, not about the account.
  return refused.otherwise && refusalIn(error) !== null ? otherwise : refused;
}

/** What the error means if it is not about the account. */
function fromTrace({ server, last }: ConnectedAgent, error: unknown): NonNullable<Refused['otherwise']> {
  const name = nameOf(server);
  const trace = last();
  const status = trace?.status;
  if (!trace?.isSent) return outcomeWith('unreachable', networkFailure(name, trace?.failure, 'card'));
  const refusal = refusalIn(error);
  if (refusal) return outcomeWith('rejected', { code: 'task_refused', server: name, words: refusal });
  if (status !== undefined && status >= 300 && status < 500 && status !== 408)
    return outcomeWith('unreachable', { code: 'no_messages', server: name, status });
  return outcomeWith(
    'unknown',
    status === undefined || status < 300
      ? { code: 'connection_ended', server: name }
      : { code: 'task_failing', server: name, status },
  );
}

/** The agent's error message; null where something may have been done. */
function refusalIn(error: unknown): string | null {
  for (let one = error; one instanceof Error; one = one.cause) {
    if (!(one instanceof A2AError)) continue;
    if (isJsonRpcError(one) && isInternalError(one.envelopeCode)) return null;
    if (isRestError(one) && one.statusCode >= 500) return null;
    return plainLine(one.message).slice(0, 500);
  }
  return null;
}

/** JSON-RPC's "internal error" and unassigned codes: the agent failed while it handled the request. */
function isInternalError(code: number): boolean {
  return code === -32603 || code > -32000 || code < -32768 || (code < -32009 && code >= -32099);
}

type Result = Extract<CallOutcome, { kind: 'result' }>['result'];
type Block = NonNullable<Result['content']>[number];

const longestQuote = 2_000;

/** `name`: as people and the model know the agent. */
export function outcomeOfTask(name: string, { artifacts, status }: Task): CallOutcome {
  const said = status?.message && (textOf(status.message) ?? '');
  switch (status?.state) {
    case TaskState.TASK_STATE_COMPLETED: {
      const made = artifacts.flatMap(({ parts }) => joined(parts.flatMap(toBlock)));
      // Earlier messages in the history are progress reports.
      return outcomeOfMessage(name, made.length > 0 ? { blocks: made } : (status.message ?? { parts: [] }));
    }
    case TaskState.TASK_STATE_FAILED:
      return failed(`${name} failed at the task${quoted(said)}.`);
    case TaskState.TASK_STATE_REJECTED:
      return failed(`${name} rejected the task and has not worked on it${quoted(said)}.`);
    case TaskState.TASK_STATE_CANCELED:
      return failed(`${name} cancelled the task before it was done${quoted(said)}.`);
    default:
      return outcomeWith('unknown', { code: 'task_end_unknown', server: name });
  }
}

/** Joins adjacent text blocks: streamed text arrives in arbitrary pieces. */
function joined(blocks: Block[]): Block[] {
  const all: Block[] = [];
  for (const block of blocks) {
    const last = all.at(-1);
    if (block.type === 'text' && last?.type === 'text')
      all[all.length - 1] = { type: 'text', text: last.text + block.text };
    else all.push(block);
  }
  return all;
}

/** The end of a call to an agent that answers with a message and makes no task. */
export function outcomeOfMessage(
  name: string,
  given: Pick<Message, 'parts'> | { blocks: Block[] },
): CallOutcome {
  const content = 'blocks' in given ? given.blocks : given.parts.flatMap(toBlock);
  if (content.length === 0) return failed(`${name} ended the task without a word.`);
  return { kind: 'result', result: { content } };
}

function failed(text: string): CallOutcome {
  return { kind: 'result', result: { isError: true, content: [{ type: 'text', text }] } };
}

function quoted(said: string | undefined): string {
  const line = plainLine(said ?? '').slice(0, longestQuote);
  return line === '' ? ' without saying why' : `. Its words: ${JSON.stringify(line)}`;
}

function toBlock({ content, mediaType, filename }: Part): Block[] {
  const mimeType = mediaType === '' ? {} : { mimeType: mediaType };
  switch (content?.$case) {
    case 'text':
      return content.value === '' ? [] : [{ type: 'text', text: content.value }];
    case 'data':
      return [{ type: 'text', text: JSON.stringify(content.value) }];
    case 'raw': {
      const blob = Buffer.from(content.value).toString('base64');
      return [{ type: 'resource', resource: { uri: filename, blob, ...mimeType } }];
    }
    case 'url':
      return [{ type: 'resource_link', uri: content.value, name: filename || content.value, ...mimeType }];
    default:
      return [];
  }
}
