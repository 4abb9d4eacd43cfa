import type { ToolPart } from './message.ts';
import { Icon } from './icon.tsx';
import type { Words } from '@interlude-ai/core/elicitation/words.ts';

interface Props {
  part: ToolPart;
  /** Whether it waits for an answer, not for the tool. */
  isWaiting: boolean;
  words: Words;
}

export function ToolCall({ part, isWaiting, words }: Props) {
  const tool = toolName(part.toolName);
  const { state } = part;
  const isFailed = state === 'output-error';
  const isDone = state === 'output-available';
  const [icon, label] = isFailed
    ? (['cross', words.toolFailed(tool)] as const)
    : isDone
      ? (['tick', words.toolDone(tool)] as const)
      : isWaiting
        ? (['pause', words.toolWaits(tool)] as const)
        : (['spinner', words.toolRuns(tool)] as const);
  return (
    <details className={`tool ${isFailed ? 'failed' : isDone ? 'done' : 'running'}`}>
      <summary aria-label={label}>
        <Icon name={icon} />
        <span dir="auto">{tool}</span>
      </summary>
      <dl>
        <dt>{words.toolInput}</dt>
        <dd>
          <pre tabIndex={0}>{shown(part.input)}</pre>
        </dd>
        {(isDone || isFailed) && (
          <>
            <dt>{words.toolOutput}</dt>
            <dd>
              <pre tabIndex={0}>{isFailed ? part.errorText : shown(part.output)}</pre>
            </dd>
          </>
        )}
      </dl>
    </details>
  );
}

/** `tracker__list_issues` → `Tracker: list issues`; for a remote agent only its name. */
export function toolName(name: string): string {
  const [server = '', tool] = name.split('__');
  const words = (text: string) => text.replaceAll(/[_-]+/g, ' ').trim();
  const title = (text: string) => words(text).replace(/^./, (letter) => letter.toUpperCase());
  if (tool === undefined) return title(server);
  return server === 'agent' ? title(tool) : `${title(server)}: ${words(tool)}`;
}

const longest = 4_000;

function shown(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? '');
  return text.length > longest ? `${text.slice(0, longest)}…` : text;
}
