/**
 * The push notifications for a task: first the task itself, then each change of its state and each question, with the
 * answer's text before a question and at the end. Computed entry by entry, so that the same log makes the same
 * notifications regardless of batches. Pure.
 */
import type { StreamResponse, Task } from '@a2a-js/sdk';
import type { LogEntry } from '../../../turn/event.ts';
import { isInterrupted, isTerminal } from './task-view.ts';
import type { TaskView } from './task-view.ts';

/** `position`: the log up to here is covered by this and earlier news. */
export interface News {
  position: number;
  updates: StreamResponse[];
  /** The same news as one task. */
  task: Task;
}

interface NewsFeed {
  first(position: number): News;
  /** `entries`: those after the previous call's, oldest first. */
  next(entries: LogEntry[]): News[];
}

export function createNewsFeed(view: TaskView): NewsFeed {
  let sent = '';
  let sentText = '';

  function newsAt(position: number): News | null {
    const task = view.task();
    const { status } = task;
    if (!status) return null;
    const hasStopped = isTerminal(status.state) || isInterrupted(status.state);
    const fingerprint = JSON.stringify([status.state, hasStopped && status.message]);
    if (fingerprint === sent) return null;
    sent = fingerprint;
    const { id: taskId, contextId } = task;
    const updates: StreamResponse[] = [];
    const text = JSON.stringify(task.artifacts);
    if (hasStopped && text !== sentText) {
      sentText = text;
      for (const artifact of task.artifacts) {
        const value = { taskId, contextId, artifact, append: false, lastChunk: false, metadata: undefined };
        updates.push({ payload: { $case: 'artifactUpdate', value } });
      }
    }
    const value = { taskId, contextId, status, metadata: undefined };
    updates.push({ payload: { $case: 'statusUpdate', value } });
    return { position, updates, task };
  }

  return {
    first(position) {
      newsAt(position);
      const task = view.task();
      sentText = JSON.stringify(task.artifacts);
      return { position, updates: [{ payload: { $case: 'task', value: task } }], task };
    },
    next(entries) {
      const news: News[] = [];
      let start = 0;
      for (const [index, { seq, event }] of entries.entries()) {
        if (!canChangeState(event)) continue;
        view.add(entries.slice(start, index + 1));
        start = index + 1;
        const fresh = newsAt(seq);
        if (fresh) news.push(fresh);
      }
      view.add(entries.slice(start));
      return news;
    },
  };
}

function canChangeState({ type }: LogEntry['event']): boolean {
  return type === 'turn-started' || type === 'elicitation-request' || type === 'turn-ended';
}
