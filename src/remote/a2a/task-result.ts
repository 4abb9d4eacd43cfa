/**
 * Translates the end of a remote agent's task into the outcome of the tool call, in MCP's content blocks, which the rest of
 * the turn uses. Text of the agent is content or quoted, so that none of it can pass for the service's own words. Pure.
 */
import type { Message, Part, Task } from '@a2a-js/sdk';
import { TaskState } from '@a2a-js/sdk';
import { textOf } from '../../a2a/parts.ts';
import { plainLine } from '../../elicitation/plain-text.ts';
import type { CallOutcome } from '../tool-call.ts';

type Result = Extract<CallOutcome, { kind: 'result' }>['result'];
type Block = NonNullable<Result['content']>[number];

const longestQuote = 2_000;

/** `name`: the agent's name as people and the model know it. */
export function outcomeOfTask(name: string, { artifacts, status }: Task): CallOutcome {
  const said = status?.message && (textOf(status.message) ?? '');
  switch (status?.state) {
    case TaskState.TASK_STATE_COMPLETED: {
      const made = artifacts.flatMap(({ parts }) => joined(parts.flatMap(toBlock)));
      // Earlier messages, in the task's history, are reports of its progress.
      return outcomeOfMessage(name, made.length > 0 ? { blocks: made } : (status.message ?? { parts: [] }));
    }
    case TaskState.TASK_STATE_FAILED:
      return failed(`${name} failed at the task${quoted(said)}.`);
    case TaskState.TASK_STATE_REJECTED:
      return failed(`${name} rejected the task and has not worked on it${quoted(said)}.`);
    case TaskState.TASK_STATE_CANCELED:
      return failed(`${name} cancelled the task before it was done${quoted(said)}.`);
    default:
      return { kind: 'unknown', message: `${name} ended the task in a state that is not known here.` };
  }
}

/** Text that streams is appended to its artifact piece by piece, wherever the pieces were cut. */
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

/** Some agents answer with a message, and make no task. */
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
