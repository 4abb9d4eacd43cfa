/**
 * What a target of notifications is told of a task: first how it stands, then each change of its state and each question,
 * with the answer's text before a question and at the end. Entry by entry, so that the same log always makes the same
 * notifications, however it is read. Pure.
 */
import type { StreamResponse, Task } from '@a2a-js/sdk';
import type { LogEntry } from '../turn/event.ts';
import { isInterrupted, isTerminal } from './task-view.ts';
import type { TaskView } from './task-view.ts';

/** `position`: of the log; whoever was told this was told everything up to there. */
export interface News {
  position: number;
  /** In this order. */
  updates: StreamResponse[];
  /** The same, as one task. */
  task: Task;
}

export interface NewsFeed {
  first(position: number): News;
  /** Of entries after those before, oldest first. */
  next(entries: LogEntry[]): News[];
}

export function createNewsFeed(view: TaskView): NewsFeed {
  let told = '';
  let toldText = '';

  function newsAt(position: number): News | null {
    const task = view.task();
    const { status } = task;
    if (!status) return null;
    const hasStopped = isTerminal(status.state) || isInterrupted(status.state);
    const fingerprint = JSON.stringify([status.state, hasStopped && status.message]);
    if (fingerprint === told) return null;
    told = fingerprint;
    const { id: taskId, contextId } = task;
    const updates: StreamResponse[] = [];
    const text = JSON.stringify(task.artifacts);
    if (hasStopped && text !== toldText) {
      toldText = text;
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
      toldText = JSON.stringify(task.artifacts);
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
