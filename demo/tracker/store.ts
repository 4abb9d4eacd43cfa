/** Tracker's issues, and a record of every tool call it executed, written together with what the call changed. */
import path from 'node:path';
import { openJsonFile } from './json-file.ts';
import { seed } from './seed.ts';

export interface Issue {
  id: number;
  title: string;
  description: string;
  state: 'open' | 'closed';
  assignee: string;
  author: string;
  createdAt: string;
  comments: { author: string; text: string; at: string }[];
}

/** One execution of a tool. The call id is the caller's own, when it sent one. */
export interface ExecutedCall {
  callId: string | null;
  tool: string;
  account: string;
  at: string;
}

interface Filter {
  state: 'open' | 'closed' | 'all';
  /** Null for everybody's. */
  assignee: string | null;
}

export interface IssueStore {
  calls: readonly ExecutedCall[];
  /** Runs the work of one tool call and writes it down: both are on disk when it returns. */
  execute<T>(call: Omit<ExecutedCall, 'at'>, work: () => T): T;
  list(filter: Filter): Issue[];
  get(id: number): Issue;
  create(account: string, issue: Pick<Issue, 'title' | 'description'>): Issue;
  comment(account: string, id: number, text: string): Issue;
  close(id: number): Issue;
}

export class NoSuchIssue extends Error {
  override name = 'NoSuchIssue';
}

const callsKept = 1_000;

export function openIssueStore(dataDir: string): IssueStore {
  const file = openJsonFile(path.join(dataDir, 'issues.json'), () => ({
    issues: seed(),
    calls: [] as ExecutedCall[],
  }));
  const { issues, calls } = file.data;
  const get = (id: number): Issue => {
    const issue = issues.find((one) => one.id === id);
    if (!issue) throw new NoSuchIssue(`There is no issue #${id} in Tracker.`);
    return issue;
  };
  return {
    calls,
    execute(call, work) {
      const result = work();
      calls.push({ ...call, at: new Date().toISOString() });
      calls.splice(0, calls.length - callsKept);
      file.save();
      return result;
    },
    list: ({ state, assignee }) =>
      issues.filter((issue) => {
        const hasState = state === 'all' || issue.state === state;
        return hasState && (assignee === null || issue.assignee === assignee);
      }),
    get,
    create(account, { title, description }) {
      const id = Math.max(0, ...issues.map((issue) => issue.id)) + 1;
      const createdAt = new Date().toISOString();
      const issue: Issue = {
        id,
        title,
        description,
        state: 'open',
        assignee: account,
        author: account,
        createdAt,
        comments: [],
      };
      issues.push(issue);
      return issue;
    },
    comment(account, id, text) {
      const issue = get(id);
      issue.comments.push({ author: account, text, at: new Date().toISOString() });
      return issue;
    },
    close(id) {
      const issue = get(id);
      issue.state = 'closed';
      return issue;
    },
  };
}
